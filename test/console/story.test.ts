import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import { publishMaster, remove } from '../support/autoscaled-service.ts'
import type { AutoscaledService } from '../support/autoscaled-service.ts'
import { shownText, signIn, startConsoleBrowser, untilShown } from '../support/console-browser.ts'
import type { ConsoleBrowser } from '../support/console-browser.ts'
import { onFailure } from '../support/failure-notes.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { beginLoad, endLoads } from '../support/steady-load.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0
const consoleUrl = 'https://console.roost.localhost/'
const vmLimitMs = 60_000
/** One instance has eight requests in flight nearly all the time, and two have four each. */
const crowd = Array.from({ length: 8 }, () => ({ path: '/?ms=20', pauseMs: 0 }))

describe('the console of a stack', function () {
  let stack: Stack
  let names: PublicNames
  let chromium: ConsoleBrowser
  let page: Page
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    chromium = await startConsoleBrowser({ caFile: names.caFile, names: '*.roost.localhost' })
    page = await chromium.open(consoleUrl)
  })
  after(async () => {
    await chromium?.close()
    await names?.close()
  })
  onFailure(() => chromium?.faults.join('\n') ?? '')

  it('is at its public name, over TLS and HTTP/2', async () => {
    assert.equal(page.url(), `${consoleUrl}console/`)
    const protocol = `performance.getEntriesByType('navigation')[0].nextHopProtocol`
    assert.equal(await page.evaluate(protocol), 'h2')
    await signIn(page, stack.token)
    await untilShown(page, 'Live')
    const cookies = await page.browserContext().cookies()
    assert.deepEqual(
      cookies.map(({ name, secure, httpOnly, sameSite }) => ({ name, secure, httpOnly, sameSite })),
      [{ name: '__Host-roost-console', secure: true, httpOnly: true, sameSite: 'Strict' }],
    )
  })

  it('creates an instance that falls asleep, and shows how a request wakes it', async () => {
    await page.keyboard.press('c')
    await page.locator('input[name="image"]').fill('counter:latest')
    await page.locator('input[name="name"]').fill('story')
    await page.locator('button[type="submit"]').click()
    await untilShown(page, /story\s+Asleep/, vmLimitMs)
    await untilShown(page, /story is asleep|story sleeps/, vmLimitMs)
    const answer = await names.get('https://story.roost.localhost/count')
    assert.equal(answer.status, 200)
    await untilShown(page, /Woke ·/, vmLimitMs)
    await untilShown(page, /story\s+Asleep/, vmLimitMs)
    await page.locator('.tabs a::-p-text(Timeline)').click()
    await untilShown(page, /Fell asleep · .*[^]*Woke · [^]*Fell asleep · [^]*Was created/)
  })

  it('draws what it used, with its wake', async () => {
    await page.locator('.tabs a::-p-text(Usage)').click()
    await untilShown(
      page,
      /of processor time, (at most \d+ MiB of memory, )?\d+ requests?, 1 wake\./,
      vmLimitMs,
    )
    await page.waitForFunction("document.querySelectorAll('.charts canvas').length === 4")
  })

  it('shows what it prints', async () => {
    await page.locator('.tabs a::-p-text(Log)').click()
    await untilShown(page, /listening on 8080/, vmLimitMs)
  })

  it('stops it and deletes it', async () => {
    await page.locator('.actions button::-p-text(Stop)').click()
    await untilShown(page, /story\s+Stopped/, vmLimitMs)
    await page.locator('.actions button::-p-text(Delete)').click()
    await page.locator('dialog button::-p-text(Delete)').click()
    await untilShown(page, 'story was deleted.')
    assert.deepEqual(chromium.faults, [])
  })

  describe('with a service under load', () => {
    let service: AutoscaledService | undefined
    after(async () => {
      await endLoads()
      await remove(stack, service)
    })

    it('scales it by a form, and shows the decision and who serves then', async () => {
      service = await publishMaster(stack, 'crowded')
      await page.goto(`${consoleUrl}console/autoscale/new`)
      await page.waitForSelector(`option[value="${service.uuid}"]`)
      await page.select('select[name="service"]', service.uuid)
      await page.select('select[name="master"]', service.master)
      await page.locator('input[name="maxSize"]').fill('2')
      await page.select('select[name="metric"]', 'in_flight')
      await page.locator('input[name="giveBackBelow"]').fill('1')
      await page.locator('input[name="addFrom"]').fill('6')
      await page.locator('button[type="submit"]').click()
      await untilShown(page, /crowded[^]*Latest decisions\s+Nothing was decided yet/)
      const load = beginLoad(names, service.host, crowd)
      await untilShown(page, /Size now\s+2/, vmLimitMs)
      await untilShown(page, /Latest decisions\s+[\d:]+\s+.*from 1 to 2/, vmLimitMs)
      await page.goto(`${consoleUrl}console/services/${service.uuid}`)
      await untilShown(page, /Who serves\s+2\s+crowded\s+Running\s+crowded-\w+\s+Running/, vmLimitMs)
      await untilShown(page, /Answered 2xx\s+[1-9]/)
      await untilShown(page, /99 % of them took\s+(at most|more than) [\d.]+ m?s/)
      await untilShown(page, /Last 30 days[^]* of processor time, .* [1-9]\d* requests/, vmLimitMs)
      await load.end()
    })

    it('tries a configuration on the load that it had', async () => {
      await page.goto(`${consoleUrl}console/autoscale/${service?.uuid}`)
      await page.waitForFunction("document.querySelectorAll('.charts canvas').length === 2")
      await page.locator('input[name="trial-maxSize"]').fill('1')
      // The step in which the load was counts when it is over.
      await until(
        'a trial has a load',
        async () => {
          await page.locator('button::-p-text(Try it)').click()
          return /It would have had 1 instance all the time/.test(await shownText(page))
        },
        { limitMs: vmLimitMs },
      )
      await page.waitForFunction("document.querySelectorAll('.charts canvas').length === 4")
    })

    it('ends the scaling, and the clone is gone', async () => {
      await page.goto(`${consoleUrl}console/autoscale/${service?.uuid}`)
      await page.locator('button::-p-text(Delete the configuration)').click()
      await page.locator('dialog button.danger').click()
      await untilShown(page, 'crowded has no autoscale any more.')
      await page.goto(`${consoleUrl}console/services/${service?.uuid}`)
      await untilShown(page, /Who serves\s+1\s+crowded\s+Running\s+Rollouts/, vmLimitMs)
      assert.deepEqual(chromium.faults, [])
    })
  })
})
