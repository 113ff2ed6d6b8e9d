import { strict as assert } from 'node:assert'
import { Registry } from 'prom-client'
import { createPlatformMetrics } from '../../../src/api/platform-metrics.ts'
import { admitHost, inviteHost, joinedMachines } from '../../../src/db/host/joining.ts'
import { declareLost, readTerms } from '../../../src/db/host/loss.ts'
import { testAgentSecret } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { explainedText } from '../../support/explanations.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import { readRows } from '../../support/rows.ts'
import { settledEvents } from '../../support/settled-events.ts'
import { assertShows } from '../../support/shown-fields.ts'

const joinToken = 'the-join-token-of-the-tests'
const termMs = 60_000

describe('lost hosts over the API', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  beforeEach(async () => {
    api = await startTestApi({ settings: { termMs } })
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
  })
  afterEach(() => api.close())

  const beat = (told: object = {}, id = 'local') =>
    api.send({
      method: 'PUT',
      path: `/internal/nodes/${id}`,
      headers: { authorization: `Bearer ${joinToken}` },
      body: {
        agentUrl: 'http://127.0.0.1:7171',
        agentSecret: testAgentSecret(id),
        accelerator: 'tcg',
        memoryMb: 65_536,
        volumeMb: 1_024,
        version: '0.1.0',
        ...told,
      },
    })
  const seen = async (id = 'local') => (await readTerms(api.database)).find((term) => term.id === id)
  const lose = async () => assert.ok(await declareLost(api.database, 'local', (await seen())!))
  const create = async (body: object = {}) =>
    await user.api.one('createInstances', { body: { image: 'hello', ...body } })

  it('are told the term of the setting and the number of their losses with each heartbeat', async () => {
    assert.partialDeepStrictEqual((await beat()).json, { nodeId: 'local', termMs, loss: 0 })
    assert.partialDeepStrictEqual((await beat({ termMs: 10_000, loss: 0 })).json, { termMs, loss: 0 })
    assert.partialDeepStrictEqual(await seen(), { termMs: 10_000, loss: 0 })
    await lose()
    assert.partialDeepStrictEqual((await beat({ termMs, loss: 0 })).json, { termMs, loss: 1 })
    assert.ok((await seen())?.lostAt)
    await beat({ termMs, loss: 1 })
    assert.equal((await seen())?.lostAt, null)
  })

  it('are told no term if the setting is off, and their losses all the same', async () => {
    const off = await startTestApi()
    try {
      const { json } = await off.send({
        method: 'PUT',
        path: '/internal/nodes/other',
        headers: { authorization: `Bearer ${joinToken}` },
        body: {
          agentUrl: 'http://127.0.0.1:7171',
          agentSecret: testAgentSecret('other'),
          accelerator: 'tcg',
          memoryMb: 4_096,
          version: '0.1.0',
        },
      })
      assert.deepEqual([json.termMs, json.loss], [undefined, 0])
    } finally {
      await off.close()
    }
  })

  it('tell terms and losses within bounds alone', async () => {
    for (const told of [{ termMs: 10_000 }, { termMs: 86_400_000 }, { loss: 0 }, { loss: 2_147_483_647 }])
      assert.equal((await beat(told)).status, 200, JSON.stringify(told))
    for (const told of [
      { termMs: 9_999 },
      { termMs: 86_400_001 },
      { termMs: 10_000.5 },
      { termMs: '60000' },
      { termMs: null },
      { loss: -1 },
      { loss: 2_147_483_648 },
      { loss: 0.5 },
    ])
      assert.equal((await beat(told)).status, 400, JSON.stringify(told))
  })

  it('are shown and explained as such, and so are their instances', async () => {
    const volume = await user.api.one('createVolumes', { body: { name: 'kept', size_mb: 8 } })
    const kept = await create({ volumes: [{ name: volume.name, at: '/data' }] })
    const moving = await create()
    await beat({ termMs, loss: 0 })
    assertShows(await admin.api.one('getHosts', { object: 'local' }), { term_ms: termMs, lost_at: undefined })
    await lose()
    const host = await admin.api.one('getHosts', { object: 'local' })
    assertShows(host, { state: 'lost', term_ms: termMs })
    assert.match(host.lost_at!, /^\d{4}-/)
    const { now, next } = await admin.api.one('explainHosts', { object: 'local' })
    assert.match(now, /^local has been lost since \d{4}-.* and was last heard at /)
    assert.match(
      next,
      /1 instance begins on other hosts as soon as they have room, 1 instance with a volume waits for it; /,
    )
    // A lost host is not asked: the answer would be waited for in vain.
    api.nodes.fails = new Error('a lost host was asked')
    const explained = async (uuid: string) =>
      await explainedText(api, { path: `/v1/instances/${uuid}/explain`, token: user.token })
    assert.match(
      await explained(moving.uuid),
      /its host local has been lost since \d{4}-[^]*it gets another host as soon as one has room; /,
    )
    assert.match(await explained(kept.uuid), /its volume data is there, so it waits for local; /)
    const { entries } = await user.api.attempt('createInstances', { body: { image: 'hello' } })
    assert.match(JSON.stringify(entries), /No host answers/)
  })

  it('are told in the events of administrators, and so is that they are back', async () => {
    const told = async ({ api: account }: TestUser) => {
      await settledEvents(api.database)
      return await account.call('listEvents', { query: { kind: 'host', object: 'local' } })
    }
    await beat({ termMs, loss: 0 })
    await lose()
    await beat({ termMs, loss: 0 })
    assert.partialDeepStrictEqual(await told(admin), [
      { kind: 'host.state', to: 'lost', by: { kind: 'platform' } },
    ])
    await beat({ termMs, loss: 1 })
    const [back, ...others] = await told(admin)
    assert.partialDeepStrictEqual(back, { kind: 'host.state', from: 'lost', to: 'live' })
    assert.deepEqual(back?.by, { kind: 'host', name: 'local' })
    assert.equal(others.length, 1)
    assert.deepEqual(await told(user), [])
  })

  it('are counted in metrics', async () => {
    await beat({ termMs, loss: 0 })
    const read = async () => {
      const registry = new Registry()
      createPlatformMetrics(registry, api.database)
      const lines = (await registry.metrics()).split('\n')
      return lines.filter((line) => /^roost_host_loss|^roost_host_lost/.test(line))
    }
    assert.deepEqual(await read(), [
      'roost_host_lost{host="local"} 0',
      'roost_host_losses_total{host="local"} 0',
    ])
    await lose()
    assert.deepEqual(await read(), [
      'roost_host_lost{host="local"} 1',
      'roost_host_losses_total{host="local"} 1',
    ])
  })

  it('can be removed with what is on them, which says what follows and is done at once', async () => {
    const volume = await user.api.one('createVolumes', { body: { name: 'kept', size_mb: 8 } })
    await create({ volumes: [{ name: volume.name, at: '/data' }] })
    await create()
    await beat({ termMs, loss: 0 }, 'local')
    const plain = await admin.api.attempt('deleteHosts', { body: { name: 'local', lost: false } })
    assert.match(JSON.stringify(plain.entries), /heard of within the last 20 s/)
    const removed = await admin.api.one('deleteHosts', { body: { name: 'local', lost: true } })
    assert.partialDeepStrictEqual(removed, {
      name: 'local',
      lost: { moving: 1, waiting: 1, volumes: 1, term_ms: termMs },
    })
    assert.match(
      removed.lost?.text ?? '',
      /^local is lost for good and locked out: 1 instance begins on another host; 1 waits until deleted, .*its VMs end within 60 s at the latest\.$/,
    )
    assert.deepEqual(api.hostControl.lookedAt, ['local'])
    const refused = await beat({ termMs, loss: 1 })
    assert.equal(refused.status, 403)
    assert.match(refused.text, /was removed as lost/)
    assert.ok(api.logLines.some((line) => line.includes('a host was removed as lost')))
    // Again, also without the word, it is the same, and the workflow looks again.
    const again = await admin.api.one('deleteHosts', { body: { name: 'local' } })
    assert.equal(again.lost?.moving, 1)
    assert.equal((await seen())?.loss, 1)
    const { next } = await admin.api.one('explainHosts', { object: 'local' })
    assert.match(next, /it was removed and does not come back: it is forgotten once nothing is on it$/)
  })

  it('that joined are locked out for good, also if the workflow can not be reached', async () => {
    await inviteHost(api.database, { hostId: 'h2', secret: 'h2' })
    assert.ok((await admitHost(api.database, { secret: 'h2', keySha256: 'h2' })).ok)
    await beat({}, 'h2')
    await readRows(api.database, { text: "update instances set node_id = 'h2'" })
    api.hostControl.faults.isAway = true
    const [removed] =
      (await admin.api.attempt('deleteHosts', { body: { name: 'h2', lost: true } })).entries ?? []
    assert.match(JSON.stringify(removed), /its VMs do not end by themselves/)
    assert.ok(!(await joinedMachines(api.database)).has('h2'))
    assert.ok((await seen('h2'))?.lostAt)
  })

  it('are removed by administrators alone', async () => {
    const { entries } = await user.api.attempt('deleteHosts', { body: { name: 'local', lost: true } })
    assert.match(JSON.stringify(entries), /not found|no host/i)
    assert.equal((await seen())?.lostAt, null)
  })

  it('are removed by the command, whose refusal of a host with instances names the option', async () => {
    await inviteHost(api.database, { hostId: 'h2', secret: 'h2' })
    assert.ok((await admitHost(api.database, { secret: 'h2', keySha256: 'h2' })).ok)
    await create()
    await beat({}, 'h2')
    await readRows(api.database, { text: "update instances set node_id = 'h2'" })
    const roost = await createRoostProgram({ url: api.url, token: admin.token })
    try {
      const refused = await roost.run(['host', 'remove', 'h2'])
      assert.match(refused.err, /has instances: delete them first; or, .*'roost host remove --lost h2'/)
      const { out } = await roost.run(['host', 'remove', '--lost', 'h2'])
      assert.match(
        out,
        /^h2 is lost for good and locked out: 1 instance begins on another host\. If the machine still runs/,
      )
      assert.match((await roost.run(['host', 'list', 'h2'])).out, /\nh2 +lost /)
    } finally {
      await roost.remove()
    }
  })
})
