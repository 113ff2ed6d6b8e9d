import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import { signIn, startConsoleBrowser, untilShown } from '../support/console-browser.ts'
import type { ConsoleBrowser } from '../support/console-browser.ts'
import { onFailure } from '../support/failure-notes.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'

const asRoot = process.getuid?.() === 0
const consoleUrl = 'https://console.roost.localhost/'
const vmLimitMs = 60_000

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
})
