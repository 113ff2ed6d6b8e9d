import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { until } from '../../support/until.ts'
import { readRows } from '../../support/rows.ts'

describe('volumes', () => {
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

  const create = (body: object) => user.api.attempt('createVolumes', { body })
  const created = (body: object = {}) => user.api.one('createVolumes', { body: { size_mb: 8, ...body } })
  const view = (object: string) => user.api.one('getVolumes', { object })

  it('are made with a generated name, and available as soon as their file system is there', async () => {
    api.volumeControl.faults.holdsWork = true
    const volume = await created({ size_mb: 100 })
    assert.match(volume.name, /^vol-[a-z0-9]{5}$/)
    const { created_at, ...seen } = await view(volume.name)
    assert.match(created_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    const expected = {
      status: 'success',
      uuid: volume.uuid,
      name: volume.name,
      state: 'initializing',
      size_mb: 100,
      attached_to: [],
      mounted_by: [],
      readonly: false,
      persistent: true,
    }
    assert.deepEqual(seen, expected)
    await api.volumeControl.tell(volume.uuid, { kind: 'made' })
    assert.partialDeepStrictEqual(await view(volume.uuid), { ...expected, state: 'available' })
  })

  it('are answered when all volumes of the request are made or have failed', async () => {
    const slow = await startTestApi({ settings: { makingVolumesMs: 60_000 } })
    try {
      const owner = await slow.addUser()
      slow.volumeControl.faults.holdsWork = true
      const body = [
        { name: 'a', size_mb: 8 },
        { name: 'b', size_mb: 8 },
      ]
      const creating = owner.api.call('createVolumes', { body })
      let answered = false
      void creating.then(() => (answered = true))
      const making = async () => {
        const volumes = await owner.api.call('getVolumes')
        return volumes.filter(({ state }) => state === 'initializing').map(({ uuid }) => uuid)
      }
      await until('both are being made', async () => (await making()).length === 2, { limitMs: 30_000 })
      const [a, b] = (await making()) as [string, string]
      await slow.volumeControl.tell(a, { kind: 'made' })
      assert.equal((await owner.api.one('getVolumes', { object: 'a' })).state, 'available')
      assert.ok(!answered)
      await slow.volumeControl.tell(b, { kind: 'make-failed', reason: 'no room' })
      assert.deepEqual(
        (await creating).map(({ uuid }) => uuid),
        [a, b],
      )
    } finally {
      await slow.close()
    }
  })

  it('are uninitialized until their workflow can be started, which the sweep does', async () => {
    api.volumeControl.faults.isAway = true
    const { uuid } = await created({ name: 'early' })
    assert.equal((await view('early')).state, 'uninitialized')
    const [row] = await readRows<{ started: Date | null }>(api.database, {
      text: 'select workflow_started_at as started from volumes where uuid = $1',
      values: [uuid],
    })
    assert.equal(row?.started, null)
    assert.ok(api.logLines.some((line) => line.includes('the sweep will tell') && line.includes(uuid)))
  })

  it('tell why they are in error', async () => {
    api.volumeControl.faults.failsMaking = 'the host has no room left'
    const { uuid } = await created()
    assert.partialDeepStrictEqual(await view(uuid), {
      state: 'error',
      reason: 'the host has no room left',
    })
    delete api.volumeControl.faults.failsMaking
    await api.volumeControl.tell(uuid, { kind: 'repair' })
    await api.volumeControl.tell(uuid, { kind: 'made' })
    const mended = await view(uuid)
    assert.deepEqual([mended.state, 'reason' in mended], ['available', false])
  })

  it('are busy while they are repaired', async () => {
    const { uuid } = await created()
    await api.volumeControl.tell(uuid, { kind: 'repair' })
    assert.equal((await view(uuid)).state, 'busy')
  })

  it('are made by array, each by itself, and answered in its order', async () => {
    const answer = await create([
      { name: 'One', size_mb: 8 },
      { name: 'one', size_mb: 8 },
      { name: 'two', size_mb: 20_480 },
      { name: 'three', size_mb: 9 },
    ])
    assert.deepEqual([answer.httpStatus, answer.status], [200, 'partial_success'])
    assert.deepEqual(answer.entries.slice(1, 3), [
      { status: 'error', name: 'one', message: "Volume with name 'one' already exists", error: 23 },
      {
        status: 'error',
        name: 'two',
        message: "Quota 'total_volume_mb' exceeded: 20488 with this request, 20480 allowed",
        error: 19,
      },
    ])
    assert.deepEqual(
      (await user.api.call('listVolumes')).map(({ name }) => name),
      ['one', 'three'],
    )
    assert.deepEqual(api.volumeControl.calls, ['ensureStarted', 'ensureStarted'])
  })

  const invalid: readonly [string, object, RegExp][] = [
    ['no size', { name: 'x' }, /^Missing 'size_mb' in volume creation arguments$/],
    ['too small a size', { size_mb: 7 }, /^Value of 'size_mb' must be in the range 8 to 20480$/],
    ['too great a size', { size_mb: 20_481 }, /^Value of 'size_mb' must be in the range 8 to 20480$/],
    [
      'a size that is no whole number',
      { size_mb: 8.5 },
      /^'size_mb' in .* has type 'number', but expected 'integer'/,
    ],
    ['a bad name', { size_mb: 8, name: 'a--b' }, /^Invalid name 'a--b'/],
    [
      'an unknown parameter',
      { size_mb: 8, size: 8 },
      /^Unknown parameter 'size' in volume creation arguments$/,
    ],
  ]
  for (const [what, body, message] of invalid) {
    it(`are refused as a whole for ${what}`, async () => {
      const answer = await create(body)
      assert.equal(answer.httpStatus, 400)
      assert.match(answer.errors[0]?.message ?? '', message)
      assert.equal((await create([{ size_mb: 8 }, body])).httpStatus, 400)
      assert.deepEqual(await user.api.call('listVolumes'), [])
    })
  }

  it('have only sizes that the account permits', async () => {
    const small = await api.addUser({ limits: { minVolumeMb: 10, maxVolumeMb: 10 } })
    const refused = await small.api.attempt('createVolumes', { body: { size_mb: 9 } })
    assert.equal(refused.errors[0]?.message, "Value of 'size_mb' must be 10")
    await small.api.one('createVolumes', { body: { size_mb: 10 } })
  })

  it('count against the quotas, which are told, until they are deleted', async () => {
    const small = await api.addUser({ hard: { volumes: 2, totalVolumeMb: 30 } })
    const make = (size_mb: number) => small.api.attempt('createVolumes', { body: { size_mb } })
    const messages = async (answer: ReturnType<typeof make>) =>
      (await answer).entries.map((entry) => ('error' in entry ? [entry.error, entry.message] : entry.status))
    const used = async () => {
      const { volumes, total_volume_mb } = (await small.api.one('getQuotas')).used
      return [volumes, total_volume_mb]
    }
    assert.deepEqual(await messages(make(20)), ['success'])
    const over = "Quota 'total_volume_mb' exceeded: 31 with this request, 30 allowed"
    assert.deepEqual(await messages(make(11)), [[19, over]])
    assert.deepEqual(await messages(make(10)), ['success'])
    assert.deepEqual(await used(), [2, 30])
    const third = "Quota 'volumes' exceeded: 3 with this request, 2 allowed"
    assert.deepEqual(await messages(make(8)), [[19, third]])
    const [first] = await small.api.call('listVolumes')
    await small.api.one('deleteVolumes', { object: first!.uuid })
    assert.deepEqual(await used(), [1, 10])
    assert.deepEqual(await messages(make(20)), ['success'])
  })

  it('are refused where no host has the room, with how much there is', async () => {
    const free = await small(100)
    try {
      const answer = await create({ name: 'huge', size_mb: 101 })
      const room = 'the most that one has is 100 MiB; ask for less, or delete other volumes'
      const message = `No host has room for a volume of 101 MiB: ${room}`
      assert.deepEqual(answer.entries, [{ status: 'error', name: 'huge', message, error: 9 }])
      await created({ size_mb: 100 })
    } finally {
      await free()
    }
  })

  /** Leaves the host `roomMb` of room beside its present volumes. Returns a function that ends this. */
  async function small(roomMb: number): Promise<() => Promise<void>> {
    await readRows(api.database, {
      text: `update nodes set volume_mb = $1 + (select coalesce(sum(size_mb), 0) from volumes)`,
      values: [roomMb],
    })
    return async () => {
      await readRows(api.database, {
        text: 'update nodes set volume_mb = 1048576',
        values: [],
      })
    }
  }

  it('are deleted, and their workflows told; their names are free at once', async () => {
    const { uuid } = await created({ name: 'gone' })
    assert.deepEqual(await user.api.one('deleteVolumes', { object: 'gone' }), {
      status: 'success',
      uuid,
      name: 'gone',
    })
    assert.deepEqual(api.volumeControl.calls, ['ensureStarted', 'delete'])
    const gone = await user.api.attempt('getVolumes', { body: [{ name: 'gone' }] })
    assert.deepEqual(gone.entries, [
      { status: 'error', name: 'gone', message: "No volume with name 'gone'", error: 8 },
    ])
    await created({ name: 'gone' })
  })

  it('are gone for their owner also where their workflow can not be told yet', async () => {
    const { uuid } = await created({ name: 'gone' })
    api.volumeControl.faults.isAway = true
    await user.api.one('deleteVolumes', { object: uuid })
    assert.equal((await user.api.attempt('getVolumes', { object: uuid })).status, 'error')
    assert.deepEqual(await user.api.call('getVolumes'), [])
    assert.ok(api.logLines.some((line) => line.includes('the sweep will tell') && line.includes(uuid)))
  })

  it('are deleted once where a request names one twice', async () => {
    await created({ name: 'twice' })
    const answer = await user.api.attempt('deleteVolumes', { body: [{ name: 'twice' }, { name: 'twice' }] })
    assert.deepEqual(
      answer.entries.map((entry) => ('error' in entry ? entry.error : entry.status)),
      ['success', 8],
    )
  })

  it('are deleted in whatever state, where no instance has them', async () => {
    api.volumeControl.faults.holdsWork = true
    const making = await created()
    await user.api.one('deleteVolumes', { object: making.uuid })
    api.volumeControl.faults.failsMaking = 'no'
    delete api.volumeControl.faults.holdsWork
    const broken = await created()
    await user.api.one('deleteVolumes', { object: broken.uuid })
    assert.deepEqual(await user.api.call('listVolumes'), [])
  })

  it('show no more than their names without details', async () => {
    const { uuid } = await created({ name: 'plain' })
    const details = { details: 'false' }
    assert.deepEqual(await user.api.call('getVolumes', { query: details }), [{ uuid, name: 'plain' }])
    assert.deepEqual(await user.api.one('getVolumes', { object: uuid, query: details }), {
      status: 'success',
      uuid,
      name: 'plain',
    })
  })

  it('have no status of their own where all are shown', async () => {
    await created()
    const [volume] = await user.api.call('getVolumes')
    assert.deepEqual([volume?.state, 'status' in volume!], ['available', false])
  })

  it('are listed by filters in the body and in the query', async () => {
    await created({ name: 'kept' })
    api.volumeControl.faults.holdsWork = true
    await created({ name: 'making' })
    delete api.volumeControl.faults.holdsWork
    const volumes = [{ size_mb: 8, at: '/data' }]
    await user.api.one('createInstances', { body: { image: 'hello', volumes } })
    const [, , implicit] = await user.api.call('listVolumes')
    const names = async (input: object) => (await user.api.call('listVolumes', input)).map(({ name }) => name)
    for (const form of ['body', 'query'] as const) {
      const flag = (value: boolean) => (form === 'query' ? String(value) : value)
      assert.deepEqual(await names({ [form]: { persistent: flag(true) } }), ['kept', 'making'])
      assert.deepEqual(await names({ [form]: { persistent: flag(false) } }), [implicit?.name])
      assert.deepEqual(await names({ [form]: { state: 'available' } }), ['kept'])
      assert.deepEqual(await names({ [form]: { state: 'idle' } }), [implicit?.name])
      assert.deepEqual(await names({ [form]: { state: 'available', persistent: flag(false) } }), [])
    }
    assert.deepEqual(await names({ body: [{ state: 'idle' }, { state: 'initializing' }] }), [
      'making',
      implicit?.name,
    ])
    const unknown = await user.api.attempt('listVolumes', { body: { state: 'running' } })
    assert.match(unknown.errors[0]?.message ?? '', /^'running' is not a valid value for 'state'; valid: un/)
  })

  it('page with count, and from a UUID or an offset', async () => {
    for (const name of ['a', 'b', 'c']) await created({ name })
    const names = async (query: Record<string, string>) =>
      (await user.api.call('getVolumes', { query })).map(({ name }) => name)
    assert.deepEqual(await names({ count: '2' }), ['a', 'b'])
    const [, b] = await user.api.call('listVolumes', { query: { count: '2' } })
    assert.deepEqual(await names({ count: '2', from: b!.uuid }), ['c'])
    assert.deepEqual(await names({ from: '1', count: '1' }), ['b'])
    const unknown = await user.api.attempt('getVolumes', { query: { from: user.uuid } })
    assert.match(unknown.errors[0]?.message ?? '', /no volume with uuid/)
  })
})
