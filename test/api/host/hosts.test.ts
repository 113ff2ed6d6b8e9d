import { strict as assert } from 'node:assert'
import { addNode } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { explainedText, roostBeside } from '../../support/explanations.ts'
import { readRows } from '../../support/rows.ts'
import { settledEvents } from '../../support/settled-events.ts'
import { assertShows } from '../../support/shown-fields.ts'

describe('hosts over the API', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
    for (const policy of ['off', 'on', 'on']) {
      await user.api.one('createInstances', { body: { image: 'hello', scale_to_zero: { policy } } })
    }
    await addNode(api.database, { id: 'Attic_2' })
    await readRows(api.database, {
      text: "update nodes set heartbeat_at = '2026-01-02T03:04:05Z' where id = 'Attic_2'",
    })
  })
  after(() => api.close())

  it('are listed for an administrator with what each has, and without its secret', async () => {
    const hosts = await admin.api.call('getHosts')
    const silent = hosts.find(({ name }) => name === 'Attic_2')
    assertShows(silent!, {
      status: undefined,
      state: 'silent',
      heard_at: '2026-01-02T03:04:05Z',
      instances: {},
    })
    assertShows(await admin.api.one('getHosts', { object: 'local' }), {
      status: 'success',
      name: 'local',
      state: 'live',
      instances: { stopped: 1, standby: 2 },
      memory_mb: 65_536,
      used_memory_mb: 0,
      cpus: undefined,
      promised_vcpus: 2,
      accelerator: 'fake',
    })
    const shown = (await api.send({ path: '/v1/hosts', token: admin.token })).text
    assert.ok(!shown.includes('secret'), shown)
  })

  it('are explained in the words of the command', async () => {
    const hosts = await admin.api.call('explainHosts')
    const [attic, local] = ['Attic_2', 'local'].map((id) => hosts.find(({ name }) => name === id)!)
    assert.match(attic!.now, /^Attic_2 has been silent since 2026-01-02T03:04:05\.000Z/)
    assert.match(local!.now, /^local is live: 2 instances sleep, 1 is stopped; 0 of 65536 MiB of memory /)
    assert.equal(`${attic!.text}\n`, await roostBeside(api, ['node', 'explain', 'Attic_2']))
    const text = await explainedText(api, { path: '/v1/hosts/local/explain', token: admin.token })
    assert.equal(text, await roostBeside(api, ['node', 'explain', 'local']))
  })

  it('that are cordoned take nothing new, show it, and let what they have go on', async () => {
    const cordoned = await admin.api.one('cordonHosts', { object: 'local' })
    try {
      assertShows(cordoned, { status: 'success', name: 'local', state: 'live' })
      assert.match(cordoned.cordoned_at!, /^\d{4}-/)
      const again = await admin.api.one('cordonHosts', { body: { name: 'local' } })
      assert.equal(again.cordoned_at, cordoned.cordoned_at)
      const { next } = await admin.api.one('explainHosts', { object: 'local' })
      assert.match(
        next,
        /^no new instances are placed here, because an administrator cordoned it at .*; 3 instances go on, /,
      )
      const message =
        'No host takes anything new now, because administrators cordoned all that answer: try again later, or ask them for ' +
        "'roost host uncordon'"
      for (const [id, body] of [
        ['createInstances', { image: 'hello' }],
        ['createVolumes', { size_mb: 8 }],
      ] as const) {
        const { entries } = await user.api.attempt(id, { body })
        assert.partialDeepStrictEqual(entries, [{ error: 9, message }])
      }
      const [stopped] = await user.api.call('listInstances', { query: { state: 'stopped' } })
      await user.api.one('startInstances', { object: stopped!.uuid })
      await user.api.one('stopInstances', { object: stopped!.uuid })
    } finally {
      const open = await admin.api.one('uncordonHosts', { object: 'local' })
      assert.deepEqual([open.status, open.cordoned_at], ['success', undefined])
    }
    assert.equal((await admin.api.one('uncordonHosts', { object: 'local' })).status, 'success')
    assert.ok(api.logLines.some((line) => line.includes('what a host may have was set')))
    await user.api.one('createInstances', { body: { image: 'hello' } })
  })

  it('that are emptied are cordoned, show how much is left, and say what follows until it is taken back', async () => {
    for (const takeBack of ['cordonHosts', 'uncordonHosts'] as const) {
      const begun = await admin.api.one('drainHosts', { object: 'local' })
      try {
        assert.ok(begun.cordoned_at)
        const { since, ...left } = begun.drain ?? {}
        assert.match(String(since), /^\d{4}-/)
        const total = Object.values(begun.instances).reduce((sum, count) => sum + count, 0)
        assert.deepEqual(left, { to_move: total })
        const again = await admin.api.one('drainHosts', { body: { name: 'local' } })
        assert.equal(again.drain?.since, since)
        const { next } = await admin.api.one('explainHosts', { object: 'local' })
        assert.match(
          next,
          /^it is being emptied since .*: \d instances move to other hosts; no new .*uncordon local` takes this back/,
        )
      } finally {
        assert.equal((await admin.api.one(takeBack, { object: 'local' })).drain, undefined)
        await admin.api.one('uncordonHosts', { object: 'local' })
      }
    }
  })

  it('tell administrators alone, in events, who cordons them, empties them and takes it back', async () => {
    const told = async ({ api: account }: TestUser) => {
      await settledEvents(api.database)
      return await account.call('listEvents', { query: { kind: 'host.use' } })
    }
    const before = (await told(admin)).length
    for (const id of ['cordonHosts', 'cordonHosts', 'drainHosts', 'uncordonHosts'] as const)
      await admin.api.one(id, { object: 'local' })
    const events = await told(admin)
    assert.deepEqual(
      events.slice(0, events.length - before).map(({ from, to }) => `${from} ${to}`),
      ['draining open', 'cordoned draining', 'open cordoned'],
    )
    assert.partialDeepStrictEqual(events[0], {
      object: { type: 'host', name: 'local' },
      by: { kind: 'token' },
    })
    assert.deepEqual(await told(user), [])
  })

  it('say of a volume on a cordoned host why no new instance can have it', async () => {
    const { name } = await user.api.one('createVolumes', { body: { name: 'kept', size_mb: 8 } })
    await admin.api.one('cordonHosts', { object: 'local' })
    try {
      const body = { image: 'hello', volumes: [{ name, at: '/data' }] }
      const { entries } = await user.api.attempt('createInstances', { body })
      assert.partialDeepStrictEqual(entries, [{ error: 24 }])
      const [entry] = entries
      assert.match(
        entry !== undefined && 'message' in entry ? entry.message : '',
        /^Volume 'kept' is on host 'local', which takes no new instance, because an administrator cordoned it: /,
      )
    } finally {
      await admin.api.one('uncordonHosts', { object: 'local' })
    }
  })

  it('have labels, which are set and removed one by one and shown', async () => {
    const change = async (body: object) => await admin.api.one('labelHosts', { object: 'local', body })
    assert.deepEqual((await admin.api.one('getHosts', { object: 'local' })).labels, {})
    assertShows(await change({ set: { zone: 'a', disk: 'nvme', spare: '' } }), {
      status: 'success',
      name: 'local',
      labels: { disk: 'nvme', spare: '', zone: 'a' },
    })
    assert.deepEqual((await change({ set: { zone: 'b' }, remove: ['spare', 'absent'] })).labels, {
      disk: 'nvme',
      zone: 'b',
    })
    const { now } = await admin.api.one('explainHosts', { object: 'local' })
    assert.match(now, /^local \(disk=nvme, zone=b\) is live: /)
    const listed = await admin.api.call('getHosts')
    assert.deepEqual(
      listed.map(({ labels }) => labels),
      [{}, { disk: 'nvme', zone: 'b' }],
    )
    assert.ok(api.logLines.some((line) => line.includes('the labels of a host were changed')))
  })

  it('have a bound of labels, of their length and of their characters', async () => {
    const numbered = (count: number, first = 0) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${first + index}`, 'x'.repeat(63)]))
    await admin.api.one('labelHosts', {
      object: 'local',
      body: { remove: ['disk', 'zone'], set: numbered(16) },
    })
    const { entries } = await admin.api.attempt('labelHosts', {
      object: 'local',
      body: { set: numbered(1, 16) },
    })
    assert.partialDeepStrictEqual(entries, [
      { name: 'local', error: 5, message: "Host 'local' would have more than 16 labels: remove some first" },
    ])
    for (const body of [
      { set: numbered(17) },
      { set: { a: 'x'.repeat(64) } },
      { set: { a: 'two words' } },
      { set: { a: 1 } },
      { set: { ['a'.repeat(64)]: '' } },
      { set: { A: '' } },
      { set: { 'a-': '' } },
      { remove: ['-a'] },
      { labels: {} },
    ]) {
      const answer = await api.send({
        method: 'PUT',
        path: '/v1/hosts/local/labels',
        token: admin.token,
        body,
      })
      assert.equal(answer.status, 400, JSON.stringify(body))
    }
    const { labels } = await admin.api.one('getHosts', { object: 'local' })
    assert.deepEqual(labels, numbered(16))
    await admin.api.one('labelHosts', { object: 'local', body: { remove: Object.keys(labels) } })
  })

  it('look to everybody else as if there were none', async () => {
    for (const id of [
      'getHosts',
      'explainHosts',
      'cordonHosts',
      'uncordonHosts',
      'drainHosts',
      'labelHosts',
    ] as const) {
      if (id === 'getHosts' || id === 'explainHosts') assert.deepEqual(await user.api.call(id), [])
      const { entries, status } = await user.api.attempt(id, { object: 'local' })
      assert.equal(status, 'error')
      assert.deepEqual(
        entries.map((entry) => 'error' in entry && entry.error),
        [8],
      )
    }
    assert.equal(await explainedText(api, { path: '/v1/hosts/explain', token: user.token }), '')
    assert.equal((await admin.api.one('getHosts', { object: 'local' })).cordoned_at, undefined)
  })
})
