import { strict as assert } from 'node:assert'
import { markEphemeralDeleted } from '../../../src/db/instance/records.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { addNode } from '../../support/accounts.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { readRows } from '../../support/rows.ts'
import { assertShows } from '../../support/shown-fields.ts'

describe('instances that are made with volumes', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    resetFaults(api.control)
    for (const fault of Object.keys(api.volumeControl.faults)) {
      delete api.volumeControl.faults[fault as keyof typeof api.volumeControl.faults]
    }
    api.volumeControl.calls.length = 0
    user = await api.addUser()
  })

  const create = (volume: object, body: object = {}) =>
    user.api.attempt('createInstances', { body: { image: 'hello', name: 'app', volumes: [volume], ...body } })
  const made = async (volume: object, body: object = {}) => {
    const answer = await create(volume, body)
    assert.equal(answer.status, 'success', JSON.stringify(answer))
    const [volumeShown] = (await user.api.one('getInstances', { object: 'app' })).volumes ?? []
    return volumeShown!
  }
  const volume = (object: string) => user.api.one('getVolumes', { object })
  const names = async () => (await user.api.call('listVolumes')).map(({ name }) => name)

  it('show none where they have none', async () => {
    await user.api.one('createInstances', { body: { image: 'hello', name: 'app', volumes: [] } })
    assert.deepEqual((await user.api.one('getInstances', { object: 'app' })).volumes, [])
  })

  it('get a new one of the size asked for, which is theirs alone', async () => {
    const shown = await made({ size_mb: 10, at: '/data' })
    assert.match(shown.name, /^vol-[a-z0-9]{5}$/)
    assert.deepEqual({ ...shown, uuid: '', name: '' }, { uuid: '', name: '', at: '/data', readonly: false })
    const [instance] = await user.api.call('listInstances')
    const { uuid, name } = instance!
    assertShows(await volume(shown.uuid), {
      name: shown.name,
      state: 'idle',
      size_mb: 10,
      attached_to: [{ uuid, name }],
      mounted_by: [],
      readonly: false,
      persistent: false,
    })
    assert.deepEqual(api.volumeControl.calls, ['ensureStarted'])
  })

  it('mount an existing volume', async () => {
    const { uuid } = await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
    api.volumeControl.calls.length = 0
    const shown = await made(
      { uuid: '', name: 'data', at: '/var//lib/', readonly: true },
      { autostart: true, wait_timeout_ms: 5_000 },
    )
    assert.deepEqual(shown, { uuid, name: 'data', at: '/var/lib', readonly: true })
    const [instance] = await user.api.call('listInstances')
    assert.partialDeepStrictEqual(await volume('data'), {
      state: 'mounted',
      mounted_by: [{ ...instance, readonly: true }],
      readonly: true,
      persistent: true,
    })
    assert.deepEqual(api.volumeControl.calls, [])
  })

  it('are where the volume is, also where another host has more memory', async () => {
    await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
    await addNode(api.database, { id: 'roomier', memoryMb: 1_000_000, volumeMb: 0 })
    await made({ name: 'data', at: '/data' })
    const rows = await readRows<{ node: string }>(api.database, {
      text: `select distinct node_id as node from instances where user_uuid = $1`,
      values: [user.uuid],
    })
    await readRows(api.database, {
      text: `delete from nodes where id = 'roomier'`,
      values: [],
    })
    assert.deepEqual(rows, [{ node: 'local' }])
  })

  it('are deleted together with their own volume, whose workflow is told', async () => {
    const { uuid } = await made({ size_mb: 8, at: '/data' })
    await user.api.one('deleteInstances', { object: 'app' })
    assert.equal((await user.api.attempt('getVolumes', { object: uuid })).status, 'error')
    assert.deepEqual(api.volumeControl.calls, ['ensureStarted', 'delete'])
    assert.equal((await user.api.one('getQuotas')).used.volumes, 0)
  })

  it('leave their own volume to the sweep if its workflow can not be told', async () => {
    const { uuid } = await made({ size_mb: 8, at: '/data' })
    api.volumeControl.faults.isAway = true
    await user.api.one('deleteInstances', { object: 'app' })
    assert.deepEqual(await names(), [])
    assert.ok(api.logLines.some((line) => line.includes('the sweep will tell') && line.includes(uuid)))
  })

  it('are deleted together with their own volume if they delete themselves', async () => {
    const { uuid } = await made({ size_mb: 8, at: '/data' }, { features: ['delete-on-stop'] })
    const [instance] = await user.api.call('listInstances')
    await markEphemeralDeleted(api.database, instance!.uuid)
    assert.equal((await user.api.attempt('getVolumes', { object: uuid })).status, 'error')
  })

  it('leave a volume that was detached once, because it is persistent from then on', async () => {
    const { uuid, name } = await made({ size_mb: 8, at: '/data' })
    await user.api.one('detachVolumes', { object: uuid })
    assert.equal((await volume(uuid)).persistent, true)
    await user.api.one('attachVolumes', {
      object: uuid,
      body: { attach_to: { name: 'app' }, at: '/data' },
    })
    await user.api.one('deleteInstances', { object: 'app' })
    assert.deepEqual(await names(), [name])
    assert.equal((await volume(uuid)).state, 'available')
    assert.ok(!api.volumeControl.calls.includes('delete'))
  })

  it('leave a volume that existed before them', async () => {
    await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
    await made({ name: 'data', at: '/data' })
    await user.api.one('deleteInstances', { object: 'app' })
    assertShows(await volume('data'), { state: 'available', attached_to: [] })
  })

  it('get a new volume each with replicas, if a size is asked for', async () => {
    const answer = await create({ size_mb: 8, at: '/data' }, { replicas: 2 })
    assert.equal(answer.entries.length, 3)
    const uuids = (await user.api.call('getInstances')).map(({ volumes }) => volumes?.[0]?.uuid)
    assert.equal(new Set(uuids).size, 3)
    assert.deepEqual(api.volumeControl.calls, ['ensureStarted', 'ensureStarted', 'ensureStarted'])
  })

  it('are not made with replicas and an existing volume', async () => {
    await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
    const answer = await create({ name: 'data', at: '/data' }, { replicas: 2 })
    const message =
      "Volume 'data' can be attached to one instance, but 3 are to be made: leave out 'replicas', or give 'size_mb' " +
      'for a new volume each'
    assert.deepEqual([answer.httpStatus, answer.errors], [400, [{ status: 400, error: 17, message }]])
  })

  it('come with their volume or not at all', async () => {
    const small = await api.addUser({ hard: { volumes: 2, totalVolumeMb: 20 } })
    const attempt = async (size_mb: number, body: object) => {
      const volumes = [{ size_mb, at: '/data' }]
      const { entries } = await small.api.attempt('createInstances', {
        body: { image: 'hello', name: 'app', volumes, ...body },
      })
      return entries.map((entry) => ('error' in entry ? [entry.name, entry.error, entry.message] : entry))
    }
    assert.deepEqual(await attempt(10, { replicas: 2 }), [
      ['app', 19, "Quota 'volumes' exceeded: 3 with this request, 2 allowed"],
    ])
    assert.deepEqual(await attempt(11, { replicas: 1 }), [
      ['app', 19, "Quota 'total_volume_mb' exceeded: 22 with this request, 20 allowed"],
    ])
    for (const id of ['listInstances', 'listVolumes'] as const) {
      assert.deepEqual(await small.api.call(id), [])
    }
    assert.equal((await small.api.one('getQuotas')).used.total_volume_mb, 0)
  })

  it('are refused with a volume that does not exist, or that cannot be attached', async () => {
    const errors = async (given: object, name: string) => {
      const { entries } = await create({ ...given, at: '/data' }, { name })
      return entries.map((entry) => ('error' in entry ? [entry.name, entry.error, entry.message] : entry))
    }
    assert.deepEqual(await errors({ name: 'none' }, 'a'), [['a', 8, "No volume with name 'none'"]])
    await made({ size_mb: 8, at: '/data' })
    const [taken] = await names()
    assert.deepEqual(await errors({ name: taken }, 'b'), [
      ['b', 15, `Volume '${taken}' is attached to instance 'app': detach it first`],
    ])
    api.volumeControl.faults.holdsWork = true
    const { uuid } = await user.api.one('createVolumes', { body: { name: 'new', size_mb: 8 } })
    assert.deepEqual(await errors({ uuid }, 'c'), [
      ['c', 24, "Volume 'new' cannot be used in state 'initializing': try again when it is 'available'"],
    ])
    assert.equal((await user.api.call('listInstances')).length, 1)
  })

  it('are refused where the host of the volume is silent, or none has room for a new one', async () => {
    await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
    const set = (text: string) => readRows(api.database, { text })
    const errors = async (given: object) => {
      const { entries } = await create({ ...given, at: '/data' }, { replicas: 'size_mb' in given ? 1 : 0 })
      return entries.map((entry) => ('error' in entry ? [entry.error, entry.message] : entry))
    }
    await set(`update nodes set heartbeat_at = now() - interval '1 hour'`)
    const silent = await errors({ name: 'data' })
    await set('update nodes set heartbeat_at = now()')
    await set('update nodes set volume_mb = (select coalesce(sum(size_mb), 0) + 15 from volumes)')
    const full = await errors({ size_mb: 10 })
    await set('update nodes set volume_mb = 1048576')
    assert.deepEqual(silent, [
      [
        10,
        "The host 'local' of volume 'data' does not answer, and an instance with it can be nowhere else: try again later",
      ],
    ])
    assert.deepEqual(full, [
      [
        9,
        'No host has room for 2 volumes of 10 MiB each: the most that one has is 15 MiB; ask for less, or delete ' +
          'other volumes',
      ],
    ])
    assert.deepEqual(await user.api.call('listInstances'), [])
  })

  it('give a volume that many ask for at once to one of them', async () => {
    await user.api.one('createVolumes', { body: { name: 'data', size_mb: 8 } })
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => create({ name: 'data', at: '/data' }, { name })),
    )
    const errors = answers.flatMap(({ entries }) =>
      entries.flatMap((one) => ('error' in one ? one.error : [])),
    )
    assert.deepEqual(errors, [15, 15, 15])
  })

  const uuid = '11111111-1111-4111-8111-111111111111'
  const invalid: readonly [string, unknown, RegExp][] = [
    ['volumes that are no list', 7, /^'volumes' in instance creation arguments has type 'integer'/],
    [
      'neither an identifier nor a size',
      [{ at: '/d' }],
      /^Missing identifier in volume description without 'size_mb': give one/,
    ],
    [
      'both identifiers',
      [{ uuid, name: 'x', at: '/d' }],
      /^'uuid' and 'name' cannot be given together in volume/,
    ],
    [
      'a name and a size',
      [{ name: 'x', size_mb: 8, at: '/d' }],
      /^'name' and 'size_mb' cannot be given together/,
    ],
    ['a UUID and a size', [{ uuid, size_mb: 8, at: '/d' }], /^'uuid' and 'size_mb' cannot be given together/],
    ['no path', [{ size_mb: 8 }], /^Missing 'volumes\[0\].at' in instance creation arguments$/],
    [
      'a path that is relative',
      [{ size_mb: 8, at: 'data' }],
      /^Invalid mount path 'data': it must be absolute/,
    ],
    [
      'a size that is too small',
      [{ size_mb: 1, at: '/d' }],
      /^Value of 'size_mb' in volume description must be in the range 8 to 20480$/,
    ],
    [
      'readonly as a word',
      [{ size_mb: 8, at: '/d', readonly: 'yes' }],
      /'volumes\[0\].readonly' .* type 'string'/,
    ],
    [
      'two volumes',
      [
        { size_mb: 8, at: '/a' },
        { size_mb: 8, at: '/b' },
      ],
      /^Value of 'volumes' has too many elements: 2, but at most 1$/,
    ],
    ['an unknown parameter', [{ size_mb: 8, at: '/d', to: 1 }], /^Unknown parameter 'volumes\[0\].to'/],
  ]
  for (const [what, volumes, message] of invalid) {
    it(`are refused as a whole for ${what}`, async () => {
      const answer = await user.api.attempt('createInstances', { body: { image: 'hello', volumes } })
      assert.equal(answer.httpStatus, 400)
      assert.match(answer.errors[0]?.message ?? '', message)
      assert.deepEqual(await user.api.call('listInstances'), [])
    })
  }
})
