import { strict as assert } from 'node:assert'
import { findUntold } from '../../../src/db/instance/records.ts'
import { loadLaunchSpec } from '../../../src/db/host/instances.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { settledEvents } from '../../support/settled-events.ts'

const missing = '11111111-1111-4111-8111-111111111111'

describe('changing instances', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    api.control.calls.length = 0
    user = await api.addUser()
  })

  const make = async (name: string, more: object = {}) =>
    (await user.api.one('createInstances', { body: { image: 'hello', name, ...more } })).uuid
  const read = async (name: string) => await user.api.one('getInstances', { object: name })
  const change = async (name: string, body: unknown) =>
    await user.api.one('updateInstances', { object: name, body })
  const refusal = async (name: string, body: unknown) => {
    const answer = await user.api.attempt('updateInstances', { object: name, body })
    const [entry] = [...answer.errors, ...answer.entries] as readonly { readonly message?: string }[]
    return entry?.message ?? 'nothing was refused'
  }
  /** Lets the instance sleep with its memory. */
  const sleep = async (uuid: string) =>
    await api.control.record(uuid, { state: InstanceState.Standby, boot: 1, snapshotUuid: missing })

  it('of a stopped instance takes effect at once', async () => {
    await make('a', { env: { KEEP: '1', DROP: '2' } })
    const changed = await change('a', {
      memory_mb: 256,
      args: ['serve', '--fast'],
      restart_policy: 'always',
      scale_to_zero: { policy: 'on', cooldown_time_ms: 5_000 },
      tags: ['blue'],
      add: { env: { NEW: '3' } },
      del: { env: ['DROP'] },
    })
    assert.deepEqual(changed.changed, ['args', 'env', 'memory_mb', 'restart_policy', 'scale_to_zero', 'tags'])
    assert.deepEqual([changed.needs_restart, changed.restarting], [[], false])
    assert.partialDeepStrictEqual(await read('a'), {
      memory_mb: 256,
      args: ['serve', '--fast'],
      env: { KEEP: '1', NEW: '3' },
      restart_policy: 'always',
      scale_to_zero: { policy: 'on', cooldown_time_ms: 5_000, stateful: false },
      tags: ['blue'],
    })
    assert.equal((await read('a')).updates, undefined)
  })

  it('is in the launch spec of the next start, with its version', async () => {
    const uuid = await make('a')
    await change('a', { memory_mb: 256, env: { A: 'b' } })
    const [row] = await api.database.db
      .selectFrom('instances')
      .select('nodeId')
      .where('uuid', '=', uuid)
      .execute()
    const spec = await loadLaunchSpec(
      { database: api.database, secretBox: testSecretBox },
      { nodeId: row!.nodeId, uuid },
    )
    assert.partialDeepStrictEqual(spec, { memoryMb: 256, env: { A: 'b' }, configVersion: 1 })
  })

  it('takes the form of newer clients, several changes of one instance at once', async () => {
    await make('a', { env: { OLD: '1' } })
    const entries = await user.api.call('updateInstances', {
      body: [
        { name: 'a', id: 'm', prop: 'memory_mb', op: 'set', value: 512 },
        { name: 'a', prop: 'env', op: 'add', value: { LEVEL: 'debug' } },
        { name: 'a', prop: 'env', op: 'del', value: 'OLD' },
        { name: 'a', prop: 'tags', op: 'add', value: ['prod'] },
        { name: 'a', prop: 'scale_to_zero', op: 'set', value: { policy: 'idle', stateful: true } },
        { name: 'a', prop: 'args', op: 'set' },
      ],
    })
    assert.deepEqual(
      entries.map(({ id, changed }: { id?: string; changed?: readonly string[] }) => [id, changed?.length]),
      [['m', 4], ...Array.from({ length: 5 }, () => [undefined, 4])],
    )
    assert.partialDeepStrictEqual(await read('a'), {
      memory_mb: 512,
      env: { LEVEL: 'debug' },
      tags: ['prod'],
    })
    assert.equal(api.control.calls.filter((call) => call === 'change').length, 1)
  })

  it('takes that form in the path, too', async () => {
    const uuid = await make('a')
    await change(uuid, [{ prop: 'memory_mb', op: 'set', value: 300 }])
    await change(uuid, { prop: 'vcpus', op: 'set', value: 1 })
    assert.equal((await read('a')).memory_mb, 300)
  })

  it('sets properties back to their defaults', async () => {
    await make('a', { args: ['x'], env: { A: '1' }, restart_policy: 'always', features: ['delete-on-stop'] })
    await change('a', { clear: ['args', 'env', 'restart_policy', 'features'] })
    const { args, env, restart_policy, features } = await read('a')
    assert.deepEqual([args, env, restart_policy, features], [undefined, {}, 'never', undefined])
  })

  it('pins a new image to its digest', async () => {
    await make('a')
    const before = (await read('a')).image
    const { changed } = await change('a', { image: 'hello' })
    assert.deepEqual([changed, (await read('a')).image], [[], before])
    assert.match(await refusal('a', { image: 'nothing-like-it' }), /No image 'nothing-like-it'/)
  })

  it('of one that runs says what needs a restart, and shows what waits', async () => {
    await make('a', { autostart: true })
    const changed = await change('a', { memory_mb: 256, restart_policy: 'on-failure' })
    assert.deepEqual(
      [changed.state, changed.needs_restart, changed.restarting],
      ['running', ['memory_mb'], false],
    )
    const { updates } = await read('a')
    assert.deepEqual(updates, [{ prop: 'memory_mb', op: 'set', value: 256, status: 'pending' }])
  })

  it('restarts it where asked, for an earlier change, too', async () => {
    const uuid = await make('a', { autostart: true })
    await change('a', { memory_mb: 256 })
    const changed = await change('a', { restart: true })
    assert.deepEqual([changed.changed, changed.needs_restart, changed.restarting], [[], [], true])
    const [untold] = await findUntold(api.database, { olderThanMs: -1_000, limit: 10 })
    assert.equal(untold, undefined)
    await api.control.record(uuid, {
      state: InstanceState.Running,
      boot: 2,
      launchedVersion: 2,
      toldVersion: 2,
    })
    assert.equal((await read('a')).updates, undefined)
  })

  it('restarts nothing that has nothing to wait for', async () => {
    await make('a', { autostart: true })
    assert.equal((await change('a', { restart: true })).restarting, false)
    assert.equal((await change('a', { tags: ['x'], restart: true })).restarting, false)
    assert.deepEqual(
      api.control.calls.filter((call) => call === 'change'),
      [],
    )
  })

  it('of one that sleeps with its memory says before and after that a restart drops it', async () => {
    const uuid = await make('a', { autostart: true })
    await sleep(uuid)
    const before = await change('a', { memory_mb: 256 })
    assert.deepEqual([before.needs_restart, before.memory_dropped], [['memory_mb'], false])
    assert.match(String(before.note), /^a sleeps with its memory.*that memory is dropped/)
    await sleep(uuid)
    const after = await change('a', { restart: true })
    assert.deepEqual([after.needs_restart, after.memory_dropped, after.restarting], [[], true, false])
  })

  it('reaches the workflow later if that does not answer', async () => {
    const uuid = await make('a')
    api.control.faults.isAway = true
    assert.equal((await change('a', { memory_mb: 256 })).status, 'success')
    const [untold] = await findUntold(api.database, { olderThanMs: -1_000, limit: 10 })
    assert.deepEqual([untold?.instanceUuid, untold?.config?.version], [uuid, 1])
  })

  it('writes nothing if nothing differs', async () => {
    await make('a', { env: { A: '1', B: '2' } })
    assert.deepEqual((await change('a', { env: { B: '2', A: '1' }, memory_mb: 128 })).changed, [])
    assert.deepEqual((await change('a', {})).changed, [])
  })

  it('tells before and after in an event, without the values of variables and arguments', async () => {
    await make('a', { env: { TOKEN: 'old-secret' }, autostart: true })
    await change('a', { memory_mb: 256, args: ['--key', 'arg-secret'], env: { TOKEN: 'new-secret', B: 'x' } })
    await settledEvents(api.database)
    const events = await user.api.call('listEvents', { query: { kind: 'instance.changed' } })
    const [event] = events as readonly { why: string; facts: object }[]
    assert.equal(
      event?.why,
      "a change was asked for: args from the image's own to 2 words; env: added B, changed TOKEN; memory_mb from 128 to 256; " +
        'it needs a restart for args, env, memory_mb',
    )
    assert.deepEqual(event.facts, { memory_mb_before: 128, memory_mb_after: 256 })
    assert.doesNotMatch(JSON.stringify(events), /secret/)
  })

  it('keeps to the limits and quotas, and changes nothing beyond them', async () => {
    await make('a', { autostart: true })
    assert.match(await refusal('a', { memory_mb: 1_000_000 }), /'memory_mb' must be in the range/)
    await api.database.db
      .updateTable('users')
      .set({ hardLiveMemoryMb: 200 })
      .where('uuid', '=', user.uuid)
      .execute()
    assert.match(await refusal('a', { memory_mb: 256, tags: ['x'] }), /live_memory_mb.*256.*200/)
    assert.deepEqual((await read('a')).tags, [])
  })

  it('counts what an older boot still has, until a newer one runs', async () => {
    const uuid = await make('a', { autostart: true, memory_mb: 1_024 })
    const used = async () => (await user.api.one('getQuotas', {})).used.live_memory_mb
    await change('a', { memory_mb: 128 })
    assert.equal(await used(), 1_024)
    await api.control.record(uuid, { state: InstanceState.Running, launchedVersion: 1, toldVersion: 1 })
    assert.equal(await used(), 128)
  })

  it('bounds what adds up', async () => {
    await make('a', { tags: Array.from({ length: 16 }, (_, index) => `t${index}`) })
    assert.match(await refusal('a', { add: { tags: ['one-more'] } }), /'tags' has too many elements: 17/)
    const many = (from: number) =>
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`V${from + index}`, 'x']))
    await change('a', { add: { env: many(0) } })
    assert.match(await refusal('a', { add: { env: many(300) } }), /'env' has too many elements: 600/)
  })

  it('names what it can not change', async () => {
    await make('a')
    const of = async (prop: string, op: string, value?: unknown) => await refusal('a', { prop, op, value })
    assert.match(
      await of('colour', 'set', 'x'),
      /'colour' is not a valid value for 'prop'; valid: image, args/,
    )
    assert.match(await of('hostname', 'set', 'x'), /^'hostname' in .* is not supported here: /)
    assert.match(await of('memory_mb', 'add', 1), /Unknown parameter 'add.memory_mb'/)
    assert.match(await of('memory_mb', 'set'), /Missing 'value'/)
    assert.match(await of('memory_mb', 'grow', 1), /'grow' is not a valid value for 'op'/)
    assert.match(await refusal('a', { volumes: [] }), /Unknown parameter 'volumes'/)
    assert.match(await refusal('a', { memory_mb: '256' }), /'memory_mb' in .* has type 'string'/)
    assert.match(await refusal('a', { drain_timeout_ms: 5 }), /only valid together with 'restart'/)
    assert.match(
      await refusal('a', { clear: ['env'], env: {} }),
      /'clear' and 'env' cannot be given together/,
    )
  })

  it('finds no instance of another user', async () => {
    await make('a')
    const other = await api.addUser()
    const { entries } = await other.api.attempt('updateInstances', {
      object: 'a',
      body: { memory_mb: 64 },
    })
    assert.partialDeepStrictEqual(entries, [{ status: 'error', error: 8 }])
  })

  it('does not change a clone of autoscale', async () => {
    const uuid = await make('a')
    await api.database.db
      .updateTable('instances')
      .set({ cloneOf: missing })
      .where('uuid', '=', uuid)
      .execute()
    assert.match(
      await refusal('a', { memory_mb: 64 }),
      /autoscale made it after its master; change the master/,
    )
  })

  it('loses none of two changes at once', async () => {
    await make('a')
    await Promise.all(['A', 'B', 'C'].map((name) => change('a', { add: { env: { [name]: '1' } } })))
    assert.deepEqual((await read('a')).env, { A: '1', B: '1', C: '1' })
  })
})
