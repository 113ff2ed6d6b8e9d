import assert from 'node:assert/strict'
import type { Page } from 'puppeteer-core'
import { InstanceState } from '../../src/domain/instance/state.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { signIn, untilShown } from '../support/console-browser.ts'
import { consoleScene } from '../support/console-scene.ts'

const snapshotUuid = '00000000-0000-4000-8000-000000000001'

describe('the console changes', () => {
  const scene = consoleScene()
  const { open, assertFit } = scene
  let api: TestApi
  let user: TestUser
  let page: Page
  beforeEach(() => {
    ;({ api, user, page } = scene)
  })

  const click = async (selector: string) => await page.locator(selector).click()
  const fill = async (name: string, text: string) =>
    await page.locator(`input[name="${name}"], textarea[name="${name}"]`).fill(text)
  const pathNow = async () => String(await page.evaluate('location.pathname'))
  const create = async (body: object = {}) =>
    (await user.api.one('createInstances', { body: { name: 'web', image: 'hello', ...body } })).uuid

  it('an instance by a form: what is other is sent, and what waits is shown with a button', async () => {
    const uuid = await create({ env: { A: '1', OLD: 'x' }, autostart: true })
    await signIn(page, user.token)
    await open(`instances/${uuid}/settings`, 'Falls asleep')
    await click('a::-p-text(Change)')
    await untilShown(page, 'Change web')
    await fill('memoryMb', 'much')
    await click('button[type="submit"]')
    await untilShown(page, "Give the memory as a whole number of MiB; 'much' is none.")
    await fill('memoryMb', '256')
    await fill('env', 'B=two')
    await fill('unset', 'OLD')
    await fill('tags', 'blue green')
    await untilShown(page, /curl -X PATCH/)
    await click('button[type="submit"]')
    await untilShown(page, 'web was changed; env, memory_mb wait for a restart.')
    assert.equal(await pathNow(), `/console/instances/${uuid}/settings`)
    const { memory_mb: memory, env, tags } = await user.api.one('getInstances', { object: uuid })
    assert.deepEqual([memory, env, tags], [256, { A: '1', B: 'two' }, ['blue', 'green']])
    await untilShown(page, 'A change of env, memory_mb waits for a restart.')
    await click('button::-p-text(Restart it)')
    await untilShown(page, 'web gets its changes.')
    await assertFit(`instances/${uuid}/change`, 'With what it starts')
  })

  it('an instance that sleeps with its memory only after it said what is lost', async () => {
    const uuid = await create({ scale_to_zero: { policy: 'on', stateful: true }, autostart: true })
    await api.control.record(uuid, { state: InstanceState.Standby, boot: 1, snapshotUuid })
    await signIn(page, user.token)
    await open(`instances/${uuid}/change`, 'Drop the memory that it has kept')
    await untilShown(page, 'Without this it wakes as it was, and they wait.')
    await fill('memoryMb', '256')
    await click('input[name="now"]')
    await click('button[type="submit"]')
    await untilShown(page, 'web was changed, and the memory that it had kept is dropped.')
  })

  it('nothing of an instance if nothing is other', async () => {
    const uuid = await create()
    await signIn(page, user.token)
    await open(`instances/${uuid}/change`, 'Change web')
    await click('button[type="submit"]')
    await untilShown(page, 'Nothing is other than it was.')
  })

  it('the domains, ports and limits of a service by a form', async () => {
    const domain = `shop-${user.name}`
    const { uuid } = await user.api.one('createServices', {
      body: { name: 'shop', services: [{ port: 443, destination_port: 8080 }], domains: [{ name: domain }] },
    })
    await signIn(page, user.token)
    await open(`services/${uuid}`, 'Who serves')
    await click('.actions a::-p-text(Change)')
    await untilShown(page, 'Change shop')
    await fill('ports', '443:8080 8443:9000')
    await fill('hardLimit', '0')
    await click('button[type="submit"]')
    await untilShown(page, "Give a whole number from 1 on; '0' is none.")
    await fill('hardLimit', '500')
    await fill('domains', `${domain}.metro.test. more-${user.name}`)
    await click('button[type="submit"]')
    await untilShown(page, 'shop was changed.')
    assert.equal(await pathNow(), `/console/services/${uuid}`)
    const service = await user.api.one('getServices', { object: uuid })
    assert.deepEqual(
      service.services?.map(({ port, destination_port: own }) => [port, own]),
      [
        [443, 8080],
        [8443, 9000],
      ],
    )
    assert.deepEqual(
      service.domains?.map(({ fqdn }) => fqdn),
      [`${domain}.metro.test`, `more-${user.name}.metro.test`],
    )
    assert.equal(service.hard_limit, 500)
    await untilShown(page, /8443 → 9000/)
    await assertFit(`services/${uuid}/change`, 'Domains')
  })
})
