import { strict as assert } from 'node:assert'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { CreateInstancesOutcome } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { openEnv } from '../../../src/db/instance/row.ts'
import type { InstanceRow } from '../../../src/db/instance/row.ts'
import {
  findInstances,
  listInstanceNames,
  listInstances,
  markDeleted,
  reserveLive,
} from '../../../src/db/instance/instances.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import type { createUser } from '../../../src/db/account/users.ts'
import { removeInstanceRow } from '../../../src/db/instance/records.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { parseObjectName } from '../../../src/domain/object-name.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { ScaleToZeroPolicy } from '../../../src/domain/standby/scale-to-zero.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

describe('instances', () => {
  let own: TestDatabase
  let database: Database
  let users = 0
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'instances', poolSize: 20 })
    await addNode(database)
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  const newUser = (quotas: Parameters<typeof createUser>[1]['hard'] = {}) =>
    addUser(database, { name: `user${users++}`, hard: quotas })
  const create = (wanted: NewInstances, randomSuffix?: (length: number) => string) =>
    insertInstances({ database, secretBox: testSecretBox, ...(randomSuffix && { randomSuffix }) }, wanted)
  const created = async (wanted: NewInstances) => instancesOf(await create(wanted))

  it('hold what was asked for', async () => {
    const user = await newUser()
    const env = { GREETING: 'héllo\n"world"', EMPTY: '' }
    const [row] = await created(
      wantedInstance(user, {
        name: 'web',
        memoryMb: 57,
        args: ['', 'a b', '"'],
        env,
        restartPolicy: RestartPolicy.OnFailure,
        deleteOnStop: true,
      }),
    )
    assert.ok(row)
    assert.deepEqual(
      [
        row.name,
        row.userUuid,
        row.nodeId,
        row.memoryMb,
        row.vcpus,
        row.args,
        row.restartPolicy,
        row.deleteOnStop,
      ],
      ['web', user.uuid, 'local', 57, 1, ['', 'a b', '"'], 'on-failure', true],
    )
    assert.deepEqual([row.state, row.revision, row.startCount, row.uptimeMs], ['stopped', 0, 0, 0])
    assert.deepEqual(openEnv(testSecretBox, row), env)
    assert.ok(Math.abs(row.createdAt.getTime() - Date.now()) < 60_000)
  })

  it('are in state starting from the first answer on if they start by themselves', async () => {
    const [row] = await created(wantedInstance(await newUser(), { autostart: true }))
    assert.equal(row?.state, InstanceState.Starting)
  })

  it('without a name are called after their application', async () => {
    const [row] = await created(wantedInstance(await newUser()))
    assert.match(row!.name, /^hello-[a-z0-9]{5}$/)
  })

  it('with replicas have one name as it was given and others with a suffix', async () => {
    const rows = await created(wantedInstance(await newUser(), { name: 'web', replicas: 3 }))
    assert.equal(rows[0]?.name, 'web')
    for (const row of rows.slice(1)) assert.match(row.name, /^web-[a-z0-9]{5}$/)
    assert.equal(new Set(rows.map((row) => row.name)).size, 4)
    for (const row of rows) assert.equal(parseObjectName(row.name), row.name)
  })

  it('take another suffix where one is taken', async () => {
    const user = await newUser()
    await created(wantedInstance(user, { name: 'hello-aaaaa' }))
    const suffixes = ['aaaaa', 'bbbbb']
    const [row] = instancesOf(await create(wantedInstance(user), () => suffixes.shift()!))
    assert.equal(row?.name, 'hello-bbbbb')
  })

  it('are refused if every suffix that is tried is taken', async () => {
    const user = await newUser()
    await created(wantedInstance(user, { name: 'hello-aaaaa' }))
    const outcome = await create(wantedInstance(user), () => 'aaaaa')
    assert.deepEqual(outcome, { ok: false, refusal: { kind: 'name-taken', name: 'hello-aaaaa' } })
  })

  it('have a name once per user, until it is deleted', async () => {
    const [ann, bob] = [await newUser(), await newUser()]
    const [first] = await created(wantedInstance(ann, { name: 'web' }))
    await created(wantedInstance(bob, { name: 'web' }))
    const again = await create(wantedInstance(ann, { name: 'web', replicas: 2 }))
    assert.deepEqual(again, { ok: false, refusal: { kind: 'name-taken', name: 'web' } })
    assert.equal((await listInstances(database, { userUuid: ann.uuid })).length, 1)
    await markDeleted(database, ann.uuid, first!.uuid)
    await created(wantedInstance(ann, { name: 'web' }))
  })

  it('of the same name can not be made by two creates at once', async () => {
    const user = await newUser()
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => create(wantedInstance(user, { name: 'web' }))),
    )
    assert.equal(outcomes.filter((outcome) => outcome.ok).length, 1)
    assert.equal((await listInstances(database, { userUuid: user.uuid })).length, 1)
  })

  it('can not pass a quota, however many creates run at once', async () => {
    const user = await newUser({ instances: 5 })
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, () => create(wantedInstance(user, { replicas: 1 }))),
    )
    const refusals = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.refusal]))
    assert.equal((await listInstances(database, { userUuid: user.uuid })).length, 4)
    assert.equal(refusals.length, 10)
    assert.deepEqual(refusals[0], { kind: 'quota', excess: { quota: 'instances', value: 6, bound: 5 } })
  })

  it('that start by themselves are counted against the live quotas', async () => {
    const user = await newUser({ liveInstances: 2, liveMemoryMb: 200 })
    const outcome = await create(wantedInstance(user, { autostart: true, replicas: 2 }))
    assert.deepEqual(outcome, {
      ok: false,
      refusal: { kind: 'quota', excess: { quota: 'liveInstances', value: 3, bound: 2 } },
    })
    const large = await create(wantedInstance(user, { autostart: true, memoryMb: 201 }))
    assert.deepEqual(large, {
      ok: false,
      refusal: { kind: 'quota', excess: { quota: 'liveMemoryMb', value: 201, bound: 200 } },
    })
    await created(wantedInstance(user, { memoryMb: 201, replicas: 2 }))
    await created(wantedInstance(user, { autostart: true }))
    assert.deepEqual((await readQuotas(database, user.uuid))?.used, {
      instances: 4,
      liveInstances: 1,
      liveVcpus: 1,
      liveMemoryMb: 128,
      serviceGroups: 0,
      services: 0,
      volumes: 0,
      totalVolumeMb: 0,
      registryMb: 0,
      snapshotMb: 0,
      imageMb: 0,
    })
  })

  it('that keep their memory in standby count against the quota of snapshots from their start on', async () => {
    const user = await newUser({ snapshotMb: 256 })
    const keeps = { policy: ScaleToZeroPolicy.On, cooldownMs: 1_000, stateful: true }
    const used = async () => (await readQuotas(database, user.uuid))?.used.snapshotMb
    const refused = {
      ok: false,
      refusal: { kind: 'quota', excess: { quota: 'snapshotMb', value: 384, bound: 256 } },
    }
    const one = wantedInstance(user, { autostart: true, scaleToZero: keeps })
    const [first, second] = await created({ ...one, replicas: 1 })
    // None of these instances keeps its memory.
    await created({ ...one, scaleToZero: { ...keeps, stateful: false } })
    await created({ ...one, scaleToZero: { ...keeps, policy: ScaleToZeroPolicy.Off } })
    assert.equal(await used(), 256)
    assert.deepEqual(await create(one), refused)
    // With standby `on` an instance is in standby from its creation on. Traffic may wake it at any moment.
    assert.deepEqual(await create({ ...one, autostart: false }), refused)
    const stop = `update instances set state = 'stopped' where uuid = $1`
    await readRows(database, { text: stop, values: [second!.uuid] })
    assert.equal(await used(), 128)
    await created(one)
    assert.deepEqual(await reserveLive(database, user.uuid, second!.uuid), refused)
    await markDeleted(database, user.uuid, first!.uuid)
    assert.equal(await used(), 128)
    assert.deepEqual(await reserveLive(database, user.uuid, second!.uuid), { ok: true })
    assert.equal(await used(), 256)
  })

  it('keep the bounds of the account', async () => {
    const user = await newUser()
    for (const memoryMb of [15, 8_193]) {
      const outcome = await create(wantedInstance(user, { memoryMb }))
      const breach = { parameter: 'memory_mb', value: memoryMb, min: 16, max: 8_192 }
      assert.deepEqual(outcome, { ok: false, refusal: { kind: 'limit', breach } })
    }
    for (const memoryMb of [16, 8_192]) await created(wantedInstance(user, { memoryMb }))
  })

  it('each have an address of their own, however many creates of however many users run at once', async () => {
    const owners = await Promise.all(Array.from({ length: 8 }, () => newUser()))
    const batches = await Promise.all(
      owners.flatMap((user) => [1, 2, 3].map(() => created(wantedInstance(user, { replicas: 9 })))),
    )
    const rows = batches.flat()
    assert.equal(rows.length, 240)
    assert.equal(new Set(rows.map((row) => row.privateIp)).size, 240)
    assert.equal(new Set(rows.map((row) => row.mac)).size, 240)
    for (const row of rows) assert.match(row.privateIp, /^10\.64\.\d+\.\d+$/)
  })

  it('give their address to others only once their host is clean', async () => {
    const user = await newUser()
    const createAt = async (index: number) => {
      await database.orm.em.fork().execute('update nodes set next_address = ?', [index], 'run')
      const [row] = await created(wantedInstance(user))
      return row!
    }
    const first = await createAt(4_094)
    assert.equal(first.privateIp, '10.64.15.254')
    await markDeleted(database, user.uuid, first.uuid)
    const meanwhile = await createAt(4_094)
    assert.notEqual(meanwhile.privateIp, first.privateIp)
    await removeInstanceRow(database, first.uuid)
    assert.equal((await createAt(4_094)).privateIp, first.privateIp)
  })

  it('get a free address, however many after the last one are taken', async () => {
    const user = await newUser()
    const before = await created(wantedInstance(user, { replicas: 19 }))
    const first = Number(before[0]!.privateIp.split('.').at(-1))
    await database.orm.em.fork().execute('update nodes set next_address = ?', [first], 'run')
    const after = await created(wantedInstance(user, { replicas: 2 }))
    const ends = [...before, ...after].map(({ privateIp }) => Number(privateIp.split('.').at(-1)))
    assert.deepEqual(
      ends,
      ends.map((_, index) => first + index),
    )
  })

  it('are found by uuid and by name in the order of the request', async () => {
    const user = await newUser()
    const [a, b] = await created(wantedInstance(user, { name: 'a', replicas: 1 }))
    const found = await findInstances(database, { userUuid: user.uuid }, [
      { name: 'a' },
      { uuid: '00000000-0000-4000-8000-000000000000' },
      { uuid: b!.uuid.toUpperCase() },
      { name: 'nobody' },
      { uuid: 'no uuid at all' },
      { uuid: a!.uuid },
    ])
    assert.deepEqual(
      found.map((row) => row?.uuid),
      [a!.uuid, undefined, b!.uuid, undefined, undefined, a!.uuid],
    )
  })

  it('do not exist for other users', async () => {
    const [ann, bob] = [await newUser(), await newUser()]
    const [row] = await created(wantedInstance(ann, { name: 'web' }))
    const identifiers = [{ uuid: row!.uuid }, { name: 'web' }]
    assert.deepEqual(await findInstances(database, { userUuid: bob.uuid }, identifiers), [
      undefined,
      undefined,
    ])
    assert.deepEqual(await listInstances(database, { userUuid: bob.uuid }), [])
    assert.equal(await markDeleted(database, bob.uuid, row!.uuid), undefined)
    assert.equal((await listInstances(database, { userUuid: ann.uuid })).length, 1)
  })

  it('are listed in the order of their creation, by state and by pages', async () => {
    const user = await newUser()
    const stopped = await created(wantedInstance(user, { name: 'z', replicas: 2 }))
    const starting = await created(wantedInstance(user, { name: 'a', autostart: true }))
    const names = [...stopped, ...starting].map(({ uuid, name }) => ({ uuid, name }))
    assert.deepEqual(await listInstanceNames(database, { userUuid: user.uuid }), names)
    const page = await listInstanceNames(database, { userUuid: user.uuid }, { count: 2, from: 1 })
    assert.deepEqual(page, names.slice(1, 3))
    const afterFirst = { count: 2, afterPosition: stopped[0]!.position }
    assert.deepEqual(
      await listInstanceNames(database, { userUuid: user.uuid }, afterFirst),
      names.slice(1, 3),
    )
    const { Starting, Running, Stopped } = InstanceState
    const live = await listInstanceNames(database, { userUuid: user.uuid }, { states: [Starting, Running] })
    assert.deepEqual(live, names.slice(3))
    const resting = await listInstanceNames(database, { userUuid: user.uuid }, { states: [Stopped] })
    assert.deepEqual(resting, names.slice(0, 3))
    assert.deepEqual(await listInstanceNames(database, { userUuid: user.uuid }, { states: [Running] }), [])
    const awake = new Map([[stopped[1]!.uuid, Running]])
    const bothSaid = await listInstanceNames(
      database,
      { userUuid: user.uuid },
      {
        states: [Running],
        insteadOfRows: awake,
      },
    )
    assert.deepEqual(bothSaid, names.slice(1, 2))
    const stillStopped = { states: [Stopped], insteadOfRows: awake }
    assert.deepEqual(await listInstanceNames(database, { userUuid: user.uuid }, stillStopped), [
      names[0],
      names[2],
    ])
    const last = await listInstances(
      database,
      { userUuid: user.uuid },
      { states: [Stopped], from: 2, count: 5 },
    )
    assert.deepEqual(
      last.map((row) => row.uuid),
      [names[2]?.uuid],
    )
  })

  it('are deleted once, are returned as they were, and give their quota back at once', async () => {
    const user = await newUser({ instances: 1 })
    const [row] = await created(wantedInstance(user, { name: 'web', autostart: true }))
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => markDeleted(database, user.uuid, row!.uuid)),
    )
    const [answer, ...more] = answers.filter((one) => one !== undefined)
    assert.deepEqual(more, [])
    assert.deepEqual(answer, row)
    assert.deepEqual(await findInstances(database, { userUuid: user.uuid }, [{ name: 'web' }]), [undefined])
    assert.equal((await readQuotas(database, user.uuid))?.used.instances, 0)
    await created(wantedInstance(user, { name: 'web' }))
    await removeInstanceRow(database, row!.uuid)
  })

  it('can not be created and deleted faster than hosts remove them', async () => {
    const user = await newUser({ instances: 2 })
    const made: string[] = []
    const makeAndDelete = async () => {
      const outcome = await create(wantedInstance(user, { autostart: true }))
      if (!outcome.ok) return outcome.refusal
      const [{ uuid } = { uuid: '' }] = outcome.instances
      made.push(uuid)
      await markDeleted(database, user.uuid, uuid)
      return undefined
    }
    for (let times = 0; times < 4; times++) assert.equal(await makeAndDelete(), undefined)
    const excess = { quota: 'instances', value: 5, bound: 4 }
    assert.deepEqual(await makeAndDelete(), { kind: 'deleted-excess', excess })
    assert.equal((await readQuotas(database, user.uuid))?.used.instances, 0)
    await removeInstanceRow(database, made[0]!)
    assert.equal(await makeAndDelete(), undefined)
  })

  it('keep no environment in clear in any column', async () => {
    const user = await newUser()
    const secret = 'correct-horse-battery'
    const [row] = await created(wantedInstance(user, { env: { SECRET: secret } }))
    const [stored] = await readRows<{ text: string }>(database, {
      text: 'select instances::text as text from instances where uuid = $1',
      values: [row!.uuid],
    })
    assert.ok(stored && stored.text.includes('hello'))
    assert.ok(!stored.text.includes(secret))
    assert.ok(!stored.text.includes(Buffer.from(secret).toString('base64')))
  })
})

function instancesOf(outcome: CreateInstancesOutcome): readonly InstanceRow[] {
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return outcome.instances
}
