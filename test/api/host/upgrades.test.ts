import assert from 'node:assert/strict'
import { Registry } from 'prom-client'
import { createPlatformMetrics } from '../../../src/api/platform-metrics.ts'
import type { HostUpgrade } from '../../../src/domain/host/upgrade.ts'
import { testAgentSecret } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'
import { settledEvents } from '../../support/settled-events.ts'

const beganAtMs = Date.parse('2026-01-02T03:04:05Z')
const own = { from: '0.1.0', to: '0.1.1', beganAtMs }
const progress = { part: 'worker', exchanged: 3, parts: 7 }
const why = 'worker ended with code 1 before it was ready'
const shownOwn = { from: '0.1.0', to: '0.1.1', began_at: '2026-01-02T03:04:05Z' }

describe('upgrades of hosts over the API', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  let roost: RoostProgram
  beforeEach(async () => {
    api = await startTestApi()
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
    roost = await createRoostProgram({ url: api.url, token: admin.token })
  })
  afterEach(async () => {
    await roost.remove()
    await api.close()
  })

  async function beat(upgrade?: unknown): Promise<void> {
    const { status, text } = await api.send({
      method: 'PUT',
      path: '/internal/nodes/local',
      headers: { authorization: 'Bearer the-join-token-of-the-tests' },
      body: {
        agentUrl: 'http://127.0.0.1:7171',
        agentSecret: testAgentSecret('local'),
        accelerator: 'fake',
        memoryMb: 4_096,
        version: '0.1.0',
        ...(upgrade !== undefined && { upgrade }),
      },
    })
    assert.equal(status, 200, text)
  }
  const tell = async (upgrade: Partial<HostUpgrade>) => await beat({ ...own, ...upgrade })
  const shown = async () => (await admin.api.one('getHosts', { object: 'local' })).upgrade
  const explained = async () => await admin.api.one('explainHosts', { object: 'local' })
  const listed = async () => (await roost.run(['host', 'list', 'local'])).out
  async function eventsOf(account: TestUser) {
    await settledEvents(api.database)
    return (await account.api.call('listEvents', { query: { kind: 'host' } })).toReversed()
  }

  it('are shown and explained as they go, to the end', async () => {
    await beat()
    assert.equal(await shown(), undefined)
    await tell({ state: 'exchanging' })
    assert.deepEqual(await shown(), { ...shownOwn, state: 'exchanging' })
    await tell({ state: 'exchanging', progress })
    assert.deepEqual(await shown(), { ...shownOwn, state: 'exchanging', progress })
    const { upgrade, next } = await explained()
    assert.deepEqual(upgrade, await shown())
    assert.match(next, /^Roost 0\.1\.1 takes over from 0\.1\.0: 3 of 7 parts are of 0\.1\.1, and worker is /)
    assert.match(await listed(), /^local +live, upgrading to 0\.1\.1: 3 of 7 parts /m)
    await tell({ state: 'done', endedAtMs: beganAtMs + 20_000 })
    assert.deepEqual(await shown(), { ...shownOwn, state: 'done', ended_at: '2026-01-02T03:04:25Z' })
    assert.match(await listed(), /^local +live  /m)
    assert.equal((await explained()).failure, undefined)
  })

  it('that go back say why, also when it is over', async () => {
    await tell({ state: 'exchanging', progress })
    await tell({ state: 'going-back', progress, why })
    assert.match(await listed(), /^local +live, going back from 0\.1\.1: 3 of 7 parts /m)
    assert.match(
      (await explained()).next,
      new RegExp(`^the upgrade to Roost 0.1.1 goes back, because ${why}: `),
    )
    await tell({ state: 'went-back', endedAtMs: beganAtMs + 20_000, why })
    const failure = `the upgrade to Roost 0.1.1 went back at 2026-01-02T03:04:25.000Z, because ${why}`
    assert.equal((await explained()).failure, failure)
    assert.match((await roost.run(['host', 'show', 'local'])).out, new RegExp(failure))
  })

  it('are told at a bounded pace, whatever a host says', async () => {
    for (let each = 0; each < 30; each++) await tell({ state: 'done', beganAtMs: beganAtMs + each })
    const { length } = await eventsOf(admin)
    assert.ok(length >= 12 && length < 20, `${length} events`)
    assert.equal((await shown())?.state, 'done')
  })

  it('are told in the events of each administrator, and of nobody else', async () => {
    const second = await api.addUser({ admin: true })
    await beat()
    // Each is told more than once, as by heartbeats that come every second.
    for (const upgrade of [
      { state: 'exchanging' },
      { state: 'exchanging', progress },
      { state: 'exchanging', progress },
      { state: 'going-back', progress, why },
      { state: 'going-back', progress: { ...progress, part: 'api' }, why },
      { state: 'went-back', why, endedAtMs: beganAtMs + 1 },
      { state: 'went-back', why, endedAtMs: beganAtMs + 1 },
    ] as const)
      await tell(upgrade)
    await beat({ state: 'done', to: '0.1.2', beganAtMs: beganAtMs + 60_000 })
    const facts = { version: '0.1.1', version_before: '0.1.0' }
    for (const account of [admin, second]) {
      const events = (await eventsOf(account)).map(
        ({ kind, object, from, to, why: said, by, facts: more }) => ({
          kind,
          object,
          from,
          to,
          why: said,
          by,
          facts: more,
        }),
      )
      const all = {
        kind: 'host.upgrade',
        object: { type: 'host', name: 'local' },
        by: { kind: 'host', name: 'local' },
      }
      assert.deepEqual(events, [
        { ...all, from: undefined, to: 'exchanging', why: 'Roost 0.1.1 takes over from Roost 0.1.0', facts },
        { ...all, from: 'exchanging', to: 'going-back', why, facts },
        { ...all, from: 'going-back', to: 'went-back', why, facts },
        {
          ...all,
          from: undefined,
          to: 'done',
          why: 'all parts are of Roost 0.1.2',
          facts: { version: '0.1.2' },
        },
      ])
    }
    assert.deepEqual(await eventsOf(user), [])
    assert.deepEqual(await user.api.call('getHosts'), [])
  })

  it('that are not understood cost no heartbeat, and show nothing', async () => {
    for (const told of [7, [], {}, { ...own, state: 'of a later version' }]) {
      await tell({ state: 'exchanging' })
      assert.ok(await shown())
      await beat(told)
      assert.equal(await shown(), undefined)
    }
    await tell({ state: 'went-back', why: `\n${'x'.repeat(5_000)}` })
    assert.equal((await shown())?.why?.length, 300)
    assert.equal((await eventsOf(admin)).at(-1)?.to, 'went-back')
  })

  it('are in the metrics, with the state of the last one', async () => {
    const read = async () => {
      const registry = new Registry()
      createPlatformMetrics(registry, api.database)
      return (await registry.metrics()).split('\n').filter((line) => line.startsWith('roost_host_upgrade{'))
    }
    await beat()
    assert.deepEqual(await read(), [])
    await tell({ state: 'exchanging' })
    const values = ['exchanging', 'going-back', 'done', 'went-back', 'cut-off'].map((state) => ({ state }))
    const lines = (now: string) =>
      values.map(({ state }) => `roost_host_upgrade{host="local",state="${state}"} ${state === now ? 1 : 0}`)
    assert.deepEqual(await read(), lines('exchanging'))
    await tell({ state: 'done' })
    assert.deepEqual(await read(), lines('done'))
  })
})
