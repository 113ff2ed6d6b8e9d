import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import { createToken } from '../../src/db/account/tokens.ts'
import { TokenScope } from '../../src/domain/account/token-scope.ts'
import type { AutoscaleMetric } from '../../src/domain/autoscale/policy.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { findings } from '../support/console-axe.ts'
import { shownText, signIn, untilShown } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'
import { createFakeAutoscaleControl } from '../support/fake-autoscale-control.ts'

describe('the pages of the console about the account', () => {
  const scene = consoleScene()
  let api: TestApi
  let user: TestUser
  let page: Page
  beforeEach(() => {
    ;({ api, user, page } = scene)
  })

  const open = (at: string) => page.goto(`${api.url}/console/${at}`)
  const press = (text: string) => page.locator(`button::-p-text(${text})`).click()
  const submit = () => page.locator('button[type="submit"]').click()
  const tokenOf = async (scopes: readonly TokenScope[], services: readonly string[] | null = null) => {
    const { token } = await createToken(api.database, { userUuid: user.uuid, rights: { scopes, services } })
    return token
  }

  describe('about tokens and quotas', () => {
    it('makes a token, shows it once, and revokes it', async () => {
      await signIn(page, user.token)
      await open('account')
      await untilShown(page, 'this session')
      await press('Create a token')
      await page.locator('input[name="label"]').fill('deploy from CI')
      await page.locator('input[name="operate"]').click()
      assert.deepEqual(await findings(page), [])
      await submit()
      await untilShown(page, 'it is shown this once')
      const made = String(await page.evaluate(`document.querySelector('dialog pre').textContent`))
      const answer = await api.send({ path: '/v1/instances', token: made })
      assert.equal(answer.status, 200, answer.text)
      await press('I have it')
      await untilShown(page, /deploy from CI\s+Scope read, operate\s+made .* ago · .* · expires in (29|30) d/)
      assert.ok(!(await page.content()).includes(made))
      await page.locator('button[aria-label="Revoke deploy from CI"]').click()
      await untilShown(page, 'Whatever uses it is refused within a second')
      await page.locator('dialog button::-p-text(Revoke)').click()
      await untilShown(page, 'deploy from CI was revoked.')
      await page.waitForFunction(`!document.querySelector('.entries').innerText.includes('deploy from CI')`)
      const { entries } = await user.api.attempt('getTokens', {})
      assert.equal(entries.length, 1)
    })

    it('shows a token that was made elsewhere at once', async () => {
      await signIn(page, user.token)
      await open('account')
      await untilShown(page, 'this session')
      await untilShown(page, 'Live')
      const scopes = [TokenScope.Metrics]
      await user.api.one('createTokens', { body: { label: 'prometheus', scopes } })
      await untilShown(page, /prometheus\s+Scope metrics\s+made .* · never used · does not expire/)
    })

    it("says what is wrong in the API's words", async () => {
      await signIn(page, user.token)
      await open('account')
      await press('Create a token')
      await page.locator('input[name="read"]').click()
      await submit()
      await untilShown(page, 'Choose at least one thing')
      await page.locator('input[name="read"]').click()
      await page.locator('input[name="services"]').fill('no-such-service')
      await page.keyboard.press('Enter')
      await untilShown(page, /no-such-service/)
      await page.waitForSelector('dialog [role="alert"]')
    })

    it('shows how much of the quotas is used', async () => {
      await user.api.one('createInstances', { body: { image: 'hello:latest', name: 'web' } })
      await signIn(page, user.token)
      await open('account')
      await untilShown(page, /Instances\s+1 of \d+/)
      await user.api.one('createInstances', { body: { image: 'hello:latest', name: 'job' } })
      await untilShown(page, /Instances\s+2 of \d+/)
    })

    it('says to tokens with fewer rights why they see less', async () => {
      await signIn(page, await tokenOf([TokenScope.Read]))
      await open('account')
      await untilShown(page, 'Only a token with all rights sees tokens and makes them.')
      await untilShown(page, /Instances\s+0 of \d+/)
      assert.doesNotMatch(await shownText(page), /Create a token|Revoke/)
    })

    it('is accessible', async () => {
      await user.api.one('createTokens', { body: { label: 'deploy', scopes: [TokenScope.Operate] } })
      await signIn(page, user.token)
      await scene.assertFit('account', /deploy\s+Scope operate/)
    })
  })

  describe('about users', () => {
    it('makes one, shows its token once, and changes its quotas', async () => {
      const admin = await api.addUser({ admin: true })
      await signIn(page, admin.token)
      await page.locator('nav a::-p-text(Users)').click()
      await untilShown(page, admin.name)
      await page.locator('main a::-p-text(Create a user)').click()
      await page.locator('input[name="name"]').fill('no name')
      await submit()
      await untilShown(page, /'no name'/)
      const name = `made-by-${admin.name}`
      await page.locator('input[name="name"]').fill(name)
      await submit()
      await untilShown(page, 'it is shown this once')
      const token = String(await page.evaluate(`document.querySelector('main pre').textContent`))
      assert.equal((await api.send({ path: '/v1/instances', token })).status, 200)
      await untilShown(page, /Instances\s+0 of \d+/)
      await page.locator('input[name="instances"]').fill('7')
      await press('Save')
      await untilShown(page, `The quotas of ${name} were changed.`)
      await untilShown(page, /Instances\s+0 of 7\b/)
      await page.locator('input[name="max_vcpus"]').fill('many')
      await press('Save')
      await untilShown(page, "'many' must be a whole number.")
      await page.reload()
      await untilShown(page, 'Change its quotas')
      assert.ok(!(await page.content()).includes(token))
      const uuid = String(await page.evaluate(`location.pathname.split('/').at(-1)`))
      await scene.assertFit('users', name)
      await scene.assertFit(`users/${uuid}`, /Instances\s+0 of 7\b/)
      await scene.assertFit('users/new', 'namespace of the user')
    })

    it('looks to everybody else as if there were none', async () => {
      await signIn(page, user.token)
      await open('users')
      await untilShown(page, 'No such page')
      assert.doesNotMatch(await shownText(page), /Users/)
    })
  })

  describe('about autoscale', () => {
    const { seen } = createFakeAutoscaleControl()
    afterEach(() => {
      api.autoscaleControl.seen = seen
    })

    async function service(): Promise<{ readonly uuid: string; readonly name: string }> {
      const { service_group: made } = await user.api.one('createInstances', {
        body: { image: 'hello:latest', name: 'web', service_group: { services: [{ port: 443 }] } },
      })
      return made!
    }
    const steps = [
      { upper_bound: 300, adjustment: -1 },
      { lower_bound: 300, upper_bound: 800, adjustment: 0 },
      { lower_bound: 800, adjustment: 1 },
    ]
    const policies = [
      { name: 'load', type: 'step', steps },
      { name: 'rush', type: 'step', metric: 'in_flight', steps: [{ lower_bound: 50, adjustment: 2 }] },
    ]
    /** As if a watch had looked at the service. */
    const measure = (metrics: Readonly<Record<AutoscaleMetric, number>>): void => {
      api.autoscaleControl.seen = async () => ({
        life: { phase: 'watching', failures: 0 },
        view: { atMs: Date.now(), size: 1, metrics },
      })
    }

    it('creates a configuration by a form, from the empty page', async () => {
      const { uuid, name } = await service()
      await signIn(page, user.token)
      await page.keyboard.press('g')
      await page.keyboard.press('a')
      await untilShown(page, 'No service is scaled by its load yet')
      assert.deepEqual(await findings(page), [])
      await page.locator('main a::-p-text(Scale a service)').click()
      await submit()
      await untilShown(page, 'Choose the service to scale.')
      await page.waitForSelector(`option[value="${uuid}"]`)
      await page.select('select[name="service"]', uuid)
      const master = String(
        await page.evaluate(`document.querySelector('select[name="master"]').options[1].value`),
      )
      await page.select('select[name="master"]', master)
      await page.locator('input[name="giveBackBelow"]').fill('900')
      await submit()
      await untilShown(page, 'It must be above 0 and below 800')
      await page.locator('input[name="giveBackBelow"]').fill('200')
      await submit()
      await untilShown(page, `${name} is scaled by its load now.`)
      const { policies: made, max_size: max } = await user.api.one('getAutoscale', { object: uuid })
      assert.equal(max, 4)
      assert.deepEqual(made?.[0]?.steps[0], { upper_bound: 200, adjustment: -1 })
      await scene.assertFit('autoscale/new', 'Give one back below')
    })

    it('shows the steps of each policy and where its metric is, and deletes them', async () => {
      const { uuid, name } = await service()
      await user.api.one('createAutoscale', { object: uuid, body: { master: { name: 'web' }, policies } })
      measure({ cpu: 640, in_flight: 12.34, requests_per_second: 3 })
      await signIn(page, user.token)
      await page.locator('nav a::-p-text(Autoscale)').click()
      await untilShown(page, /1 to 4 instances\s+2 policies: load, rush · clones of web/)
      await page.locator('.entry a').click()
      await untilShown(page, 'Processor: 640 millicores per instance')
      await untilShown(page, new RegExp(`Delete the configuration\\s+${name} is about to change`))
      await untilShown(page, 'Requests in flight: 12.3 per instance')
      await page.waitForSelector(
        '[aria-label="Steps by cpu: below 300 −1; from 300 below 800 0; from 800 +1. Now: 640."]',
      )
      const left = Number(await page.evaluate(`parseFloat(document.querySelector('.bands-now').style.left)`))
      assert.ok(Math.abs(left - (640 / (800 * 1.3)) * 100) < 0.1, String(left))
      await scene.assertFit('autoscale', /2 policies/)
      await scene.assertFit(`autoscale/${uuid}`, 'Processor: 640')
      await page.locator('button[aria-label="Delete policy rush"]').click()
      await page.locator('dialog button::-p-text(Delete)').click()
      await untilShown(page, `Policy rush of ${name} was deleted.`)
      await page.waitForFunction(`document.querySelectorAll('.bands').length === 1`)
      await press('Delete the configuration')
      await page.locator('dialog button.danger').click()
      await untilShown(page, 'has no autoscale any more.')
      await untilShown(page, 'No service is scaled by its load yet')
    })

    it('draws load and size against the steps, and tries other steps on the recorded load', async () => {
      const { uuid } = await service()
      await user.api.one('createAutoscale', { object: uuid, body: { master: { name: 'web' }, policies } })
      const newestMs = Math.floor(Date.now() / 5_000) * 5_000
      const none = { rssBytes: 1, rxBytes: 0, rxPackets: 0, txBytes: 0, txPackets: 0, handled: 5, wakes: 0 }
      const used = { ...none, seenMs: 5_000, cpuTimeMs: 3_500, inFlightMs: 5_000 }
      const steps = Array.from({ length: 120 }, (_, index) => ({
        ...used,
        atMs: newestMs - (120 - index) * 5_000,
      }))
      api.nodes.histories.set(`local ${uuid}`, steps)
      await signIn(page, user.token)
      await scene.open(`autoscale/${uuid}`, 'Try it on the recorded load')
      const titles = 'Array.from(document.querySelectorAll(".u-title"), (title) => title.innerText)'
      const drawn = ['load: millicores per instance', 'rush: per instance', 'Instances']
      await page.waitForFunction(`${titles}.length === 3`)
      assert.deepEqual(await page.evaluate(titles), drawn)
      await press('Try it')
      await untilShown(page, /The load of 10 min was recorded\. It would have had 1 instance all the time/)
      await page.waitForFunction(`${titles}.length === 6`)
      await page.locator('input[name="step-0-1-upper"]').fill('600')
      await press('Try it')
      await untilShown(page, /Steps in policy 'load' must leave no gap/)
      await page.locator('input[name="step-0-2-lower"]').fill('much')
      await press('Try it')
      await untilShown(page, "Step 3 of load: a bound must be a whole number or empty, not 'much'.")
      await page.locator('input[name="step-0-2-lower"]').fill('600')
      await press('Try it')
      await untilShown(page, /It would have had 1 to 2 instances, after 1 change of the size/)
      await page.waitForFunction(`${titles}.length === 6`)
      const { policies: kept } = await user.api.one('getAutoscale', { object: uuid })
      assert.equal(kept?.[0]?.steps[2]?.lower_bound, 800)
      assert.deepEqual(await findings(page), [])
      await scene.assertFit(`autoscale/${uuid}`, 'Try it on the recorded load')
    })

    it('shows a token that may only read no buttons, and a limited one its service', async () => {
      const { uuid, name } = await service()
      await user.api.one('createAutoscale', { object: uuid, body: { master: { name: 'web' }, policies } })
      await signIn(page, await tokenOf([TokenScope.Read], [name]))
      await open('autoscale')
      await untilShown(page, '2 policies')
      await open(`autoscale/${uuid}`)
      await untilShown(page, 'Nothing was decided yet')
      assert.doesNotMatch(await shownText(page), /\b(Delete|Scale a service)\b/)
    })
  })
})
