import { strict as assert } from 'node:assert'
import { makeMove } from '../../src/db/rollout/moves.ts'
import type { RowMove } from '../../src/db/rollout/moves.ts'
import { listRollouts } from '../../src/db/rollout/records.ts'
import { testSecretBox } from '../support/accounts.ts'
import { signIn, untilShown } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'
import { until } from '../support/until.ts'

describe('the console deploys new versions', () => {
  const scene = consoleScene()
  const click = async (selector: string) => await scene.page.locator(selector).click()
  const fill = async (name: string, value: string) => await scene.page.locator(`[name="${name}"]`).fill(value)

  async function publish(): Promise<string> {
    const { one } = scene.user.api
    const services = [{ port: 443, destination_port: 8080 }]
    const domains = [{ name: `shop-${scene.user.name}` }]
    const { uuid } = await one('createServices', { body: { name: 'shop', services, domains } })
    await one('createInstances', {
      body: {
        name: 'web',
        image: 'hello',
        env: { A: '1' },
        autostart: true,
        service_group: { name: 'shop' },
      },
    })
    return uuid
  }

  const newest = async (service: string) => (await listRollouts(scene.api.database, service, 1))[0]!

  /** Does what the rollout's workflow would do. */
  async function move(service: string, wanted: RowMove): Promise<void> {
    const { database } = scene.api
    await makeMove({ database, secretBox: testSecretBox }, await newest(service), wanted)
  }

  it('by a form, with the refusals at their fields, and shows live how far one is', async () => {
    const { page, user } = scene
    const uuid = await publish()
    const submit = async () => await click('button[type="submit"]')
    const focused = async () => await page.evaluate('document.activeElement.name')
    await signIn(page, user.token)
    await scene.open(`services/${uuid}`, 'No new version was deployed yet.')
    await click('.actions a::-p-text(Deploy)')
    await untilShown(page, 'Deploy shop')
    await fill('canary', '5 many')
    await submit()
    await untilShown(page, "Give the steps in percent, such as 5 50 100; 'many' is none.")
    assert.equal(await focused(), 'canary')
    for (const [field, bad, sentence, good] of [
      ['canary', '50, 5', /percentages must grow and end with 100/, '5 50% 100'],
      ['bakeS', '90000', /'bake_s'/, '60'],
      ['keepS', '3000000', /'keep_s'/, '600'],
      ['checkPath', 'health', /Give a path that begins with '\/'/, ''],
      ['checkPath', `/${'a'.repeat(256)}`, /'path' in check description is too long/, '/health'],
      ['image', 'nothing:latest', /No image 'nothing:latest'/, 'hello:latest'],
    ] as const) {
      await fill(field, bad)
      await submit()
      await untilShown(page, sentence)
      assert.equal(await focused(), field)
      await fill(field, good)
    }
    await fill('env', 'A=two')
    await untilShown(page, /services\/shop\/rollouts/)
    await submit()
    await untilShown(page, 'A new version of shop is rolled out.')
    const { plan, changes } = await newest(uuid)
    assert.deepEqual(
      [plan.canary, plan.bakeMs, plan.keepMs, plan.check.path],
      [[5, 50, 100], 60_000, 600_000, '/health'],
    )
    await untilShown(page, /Preparing\s+0 %\s+env.*\s+step 1 of 3: waits until healthy: web-/)
    assert.ok(changes.length > 0)
    await move(uuid, { kind: 'give' })
    await untilShown(
      page,
      /Baking\s+5 %\s+env.*\s+step 1 of 3: watches the new version with 5 % of the traffic until/,
    )
    await untilShown(page, /Baking\s+5 %/)
    await scene.assertFit(`services/${uuid}`, 'watches the new version with 5 %')
    await scene.assertFit(`services/${uuid}/deploy`, 'Path that has to answer')
  })

  it('and goes back to the old one at a word, while it is kept too', async () => {
    const { page, user } = scene
    const uuid = await publish()
    const deploy = async () =>
      await user.api.one('createRollouts', { object: uuid, body: { env: { A: '2' } } })
    await deploy()
    await signIn(page, user.token)
    await scene.open(`services/${uuid}`, 'Preparing')
    await click('button::-p-text(Go back)')
    await untilShown(page, 'The old version gets all traffic again, and the new one is deleted.')
    await click('dialog button::-p-text(Go back)')
    await untilShown(page, 'shop goes back to the old version.')
    assert.notEqual((await newest(uuid)).recalledBy, null)
    await move(uuid, { kind: 'go-back', reason: 'going back was asked for' })
    await move(uuid, { kind: 'turn-back' })
    await untilShown(page, /Went back\s+.*\s+going back was asked for/)
    const isGone = async () => (await page.$('button::-p-text(Go back)')) === null
    await until('nothing to go back to', isGone, { limitMs: 10_000 })
    await deploy()
    await move(uuid, { kind: 'give' })
    await move(uuid, { kind: 'finish' })
    await untilShown(page, /Serves\s+.*\s+the new version serves; the old one is kept until/)
    await click('button::-p-text(Go back)')
    await untilShown(page, 'Once it is healthy it gets all traffic')
    await scene.assertFit(`services/${uuid}`, 'the old one is kept until')
  })

  it('only to those who may', async () => {
    const { page, user } = scene
    const uuid = await publish()
    await user.api.one('createRollouts', { object: uuid, body: { env: { A: '2' } } })
    const { token } = await user.api.one('createTokens', { body: { scopes: ['read'] } })
    await signIn(page, token)
    await scene.open(`services/${uuid}`, 'Preparing')
    assert.equal(await page.$('a::-p-text(Deploy)'), null)
    assert.equal(await page.$('button::-p-text(Go back)'), null)
  })
})
