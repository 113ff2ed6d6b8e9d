import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { NewInstances } from '../../../src/db/instance/new-instances.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import type { InstanceRow } from '../../../src/db/instance/row.ts'
import { imagesInUse, instancesOfNode, loadLaunchSpec } from '../../../src/db/host/instances.ts'
import { overlookNodes, releaseNode, removeNode } from '../../../src/db/host/administration.ts'
import { findNode, isNodeSecret, listNodes, recordHeartbeat } from '../../../src/db/host/hosts.ts'
import { KnownAgents } from '../../../src/db/host/known-agents.ts'
import { createSecretBox, secretKeyBytes } from '../../../src/db/secret-box.ts'
import type { SecretBox } from '../../../src/db/secret-box.ts'
import {
  findDeletedRows,
  findUnstarted,
  markWorkflowStarted,
  removeInstanceRow,
} from '../../../src/db/instance/records.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { setQuotas } from '../../../src/db/account/users.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { ScaleToZeroPolicy } from '../../../src/domain/standby/scale-to-zero.ts'
import {
  addNode,
  hearNode,
  addUser,
  testAgentSecret,
  testImage,
  testSecretBox,
  wantedInstance,
} from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

const sleepy = { policy: ScaleToZeroPolicy.Idle, cooldownMs: 250, stateful: true }

describe('hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'nodes' })
    user = await addUser(database, { name: 'ann' })
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const deps = () => ({ database, secretBox: testSecretBox })
  const create = async (wanted: Partial<NewInstances> = {}) => {
    const outcome = await insertInstances(deps(), wantedInstance(user, wanted))
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances
  }
  const silence = (id: string) =>
    database.orm.em
      .fork()
      .execute("update nodes set heartbeat_at = now() - interval '1 minute' where id = ?", [id], 'run')

  it('each get a network of their own and keep it', async () => {
    const ids = ['a', 'b', 'c', 'd']
    // These calls open the connections beforehand, so that the hosts really join at the same time.
    await Promise.all(ids.map(() => database.check()))
    await Promise.all(ids.map((id) => addNode(database, { id })))
    const subnets = (await listNodes(deps())).map((node) => node.subnet)
    assert.deepEqual(subnets.toSorted(), ['10.64.0.0/20', '10.64.16.0/20', '10.64.32.0/20', '10.64.48.0/20'])
    await addNode(database, { id: 'b' })
    assert.deepEqual(
      (await listNodes(deps())).map((node) => node.subnet),
      subnets,
    )
  })

  it('are heard since the first heartbeat after a silence', async () => {
    const heardSince = async () => {
      await hearNode(database, { id: 'a' })
      const rows = await readRows<{ at: Date; isNow: boolean }>(database, {
        text: `select heard_since as at, heard_since = heartbeat_at as "isNow" from nodes where id = 'a'`,
      })
      return rows[0]!
    }
    const first = await heardSince()
    assert.equal(first.isNow, true)
    assert.deepEqual(await heardSince(), { at: first.at, isNow: false })
    await silence('a')
    assert.equal((await heardSince()).isNow, true)
  })

  it('tell how much the images of each user take, and the quotas show the host where they take most', async () => {
    const bob = await addUser(database, { name: 'bob' })
    const usedMb = async (uuid: string) => (await readQuotas(database, uuid))?.used.imageMb
    assert.equal(await usedMb(user.uuid), 0)
    await hearNode(database, { id: 'a', imageBytes: { [user.uuid]: 1 } })
    await hearNode(database, {
      id: 'b',
      imageBytes: { [user.uuid]: 3 * 2 ** 40 + 1, [bob.uuid]: 7 * 2 ** 20 },
    })
    assert.deepEqual([await usedMb(user.uuid), await usedMb(bob.uuid)], [3 * 2 ** 20 + 1, 7])
    await hearNode(database, { id: 'b' })
    assert.deepEqual([await usedMb(user.uuid), await usedMb(bob.uuid)], [1, 0])
  })

  it('have told of their images what they told last, if a heartbeat says nothing of it', async () => {
    await hearNode(database, { id: 'a', imageBytes: { [user.uuid]: 7 * 2 ** 20 } })
    await beat('a', testAgentSecret('a'))
    assert.equal((await readQuotas(database, user.uuid))?.used.imageMb, 7)
  })

  it('tell how many processors they have, or do not if their agent is older', async () => {
    const cpus = async () => (await database.db.selectFrom('nodes').select('cpus').executeTakeFirst())?.cpus
    await hearNode(database, { id: 'a', cpus: 4 })
    assert.equal(await cpus(), 4)
    await hearNode(database, { id: 'a', cpus: 8 })
    assert.equal(await cpus(), 8)
    await hearNode(database, { id: 'a' })
    assert.equal(await cpus(), null)
  })

  it('are known with the secret of their agent, which no column holds in clear', async () => {
    await addNode(database, { id: 'a' })
    assert.equal((await findNode(deps(), 'a'))?.agentSecret, testAgentSecret('a'))
    assert.equal(await findNode(deps(), 'b'), undefined)
    const [stored] = await readRows<{ text: string }>(database, {
      text: 'select nodes::text as text from nodes',
    })
    assert.ok(stored && stored.text.includes('10.64.0.0/20'))
    assert.ok(!stored.text.includes(testAgentSecret('a')))
  })

  let firstSubnet: string
  beforeEach(() => {
    firstSubnet = '10.64.0.0/20'
  })
  let known: KnownAgents | undefined
  beforeEach(() => {
    known = undefined
  })
  const beat = (id: string, agentSecret: string, occupiedSubnets: readonly string[] = []) =>
    recordHeartbeat(
      { ...deps(), ...(known && { known }) },
      { id, firstSubnet },
      {
        agentUrl: `http://${agentSecret}`,
        agentSecret,
        accelerator: 'tcg',
        memoryMb: 1,
        volumeMb: 2,
        occupiedSubnets,
        version: '',
      },
    )

  it('get a network that nothing else on their machine uses, and keep it', async () => {
    const joined = await beat('a', 'one', ['192.168.0.0/16', '10.64.0.0/20', '10.64.16.0/20'])
    assert.equal(joined?.subnet, '10.64.32.0/20')
    assert.equal((await beat('a', 'one', ['10.64.32.0/20']))?.subnet, '10.64.32.0/20')
    assert.equal((await beat('b', 'two'))?.subnet, '10.64.0.0/20')
  })

  it('keep a /16 that they have, and further hosts get networks beside it', async () => {
    firstSubnet = '10.64.0.0/16'
    assert.equal((await beat('a', 'one'))?.subnet, '10.64.0.0/16')
    firstSubnet = '10.64.32.0/20'
    assert.equal((await beat('a', 'one'))?.subnet, '10.64.0.0/16')
    assert.equal((await beat('b', 'two', ['10.65.0.0/20']))?.subnet, '10.65.16.0/20')
    assert.equal((await beat('c', 'three', ['10.65.0.0/16']))?.subnet, '10.66.0.0/20')
  })

  it('belong to the agent that joined first, even of many at once', async () => {
    const secrets = ['one', 'two', 'three', 'four']
    await Promise.all(secrets.map(() => database.check()))
    const outcomes = await Promise.all(secrets.map((secret) => beat('a', secret)))
    const winners = secrets.filter((_, index) => outcomes[index] !== undefined)
    assert.equal(winners.length, 1)
    const [winner] = winners
    for (const secret of [...secrets, '']) {
      assert.equal(await isNodeSecret(deps(), 'a', secret), secret === winner)
      assert.equal((await beat('a', secret)) !== undefined, secret === winner)
    }
    const node = await findNode(deps(), 'a')
    assert.deepEqual([node?.agentUrl, node?.agentSecret], [`http://${winner}`, winner])
  })

  it('whose secret was sealed with a lost key accept no agent', async () => {
    await beat('a', 'kept')
    const other = { database, secretBox: createSecretBox(randomBytes(secretKeyBytes)) }
    assert.equal(await isNodeSecret(other, 'a', 'kept'), false)
    assert.equal(await isNodeSecret(deps(), 'a', 'kept'), true)
  })

  it('are known again by a process that heard them, which opens their secret once', async () => {
    known = new KnownAgents()
    let opened = 0
    const secretBox: SecretBox = {
      ...testSecretBox,
      open(...given) {
        opened += 1
        return testSecretBox.open(...given)
      },
    }
    const hear = async (agentUrl: string) => {
      const heartbeat = {
        agentUrl,
        agentSecret: 'one',
        accelerator: 'tcg',
        memoryMb: 1,
        volumeMb: 2,
      } as const
      const node = { id: 'a', firstSubnet }
      const told = { ...heartbeat, occupiedSubnets: [], version: '' }
      return await recordHeartbeat({ database, secretBox, known: known! }, node, told)
    }
    const first = await hear('http://first')
    for (const url of ['http://second', 'http://third']) {
      assert.deepEqual(await hear(url), first)
      assert.equal((await findNode(deps(), 'a'))?.agentUrl, url)
    }
    assert.equal(opened, 1)
  })

  it('that are known belong to no other agent, and not to their own once another one has their id', async () => {
    const here = new KnownAgents()
    known = here
    const joined = await beat('a', 'one')
    assert.deepEqual(await beat('a', 'one'), joined)
    assert.equal(await beat('a', 'two'), undefined)
    assert.equal((await findNode(deps(), 'a'))?.agentUrl, 'http://one')
    await silence('a')
    assert.deepEqual(await releaseNode(database, 'a'), { ok: true })
    // Another process of the API hears the next agent.
    known = new KnownAgents()
    assert.deepEqual(await beat('a', 'two'), joined)
    known = here
    assert.equal(await beat('a', 'one'), undefined)
    assert.equal((await findNode(deps(), 'a'))?.agentUrl, 'http://two')
    assert.deepEqual(await beat('a', 'two'), joined)
    await silence('a')
    assert.deepEqual(await removeNode(database, 'a'), { ok: true })
    assert.deepEqual(await beat('a', 'one'), joined)
  })

  it('that are released belong, with instances and network, to the next agent that joins, and to no other after that', async () => {
    await addNode(database, { id: 'a' })
    await create()
    const [{ subnet } = { subnet: '' }] = await listNodes(deps())
    assert.deepEqual(await releaseNode(database, 'a'), { ok: false, refusal: 'live' })
    assert.equal(await beat('a', 'new'), undefined)
    await silence('a')
    assert.deepEqual(await releaseNode(database, 'a'), { ok: true })
    assert.partialDeepStrictEqual(await overlookNodes(database), [{ id: 'a', released: true, instances: 1 }])
    for (const secret of ['', testAgentSecret('a'), 'new']) {
      assert.equal(await isNodeSecret(deps(), 'a', secret), false)
    }
    assert.equal((await findNode(deps(), 'a'))?.agentSecret, '')
    assert.deepEqual(await beat('a', 'new'), { nodeId: 'a', subnet, loss: 0 })
    assert.equal(await beat('a', testAgentSecret('a')), undefined)
    assert.equal(await isNodeSecret(deps(), 'a', 'new'), true)
  })

  it('are removed only when they are silent and have no instances left', async () => {
    await addNode(database, { id: 'a' })
    const [row] = await create()
    assert.deepEqual(await removeNode(database, 'a'), { ok: false, refusal: 'live' })
    await silence('a')
    await markDeleted(database, user.uuid, row!.uuid)
    assert.deepEqual(await removeNode(database, 'a'), { ok: false, refusal: 'has-instances' })
    await removeInstanceRow(database, row!.uuid)
    assert.deepEqual(await removeNode(database, 'a'), { ok: true })
    assert.deepEqual(await listNodes(deps()), [])
    for (const change of [removeNode, releaseNode]) {
      assert.deepEqual(await change(database, 'a'), { ok: false, refusal: 'unknown' })
    }
  })

  it('that were silent for a while are not live and get no new instances', async () => {
    const none = await insertInstances(deps(), wantedInstance(user))
    assert.deepEqual(none, { ok: false, refusal: { kind: 'no-node' } })
    await addNode(database, { id: 'big', memoryMb: 65_536 })
    await addNode(database, { id: 'small', memoryMb: 1_024 })
    await silence('big')
    assert.equal((await findNode(deps(), 'big'))?.live, false)
    const [row] = await create()
    assert.equal(row?.nodeId, 'small')
  })

  it('share instances by the share of their memory that is free', async () => {
    await addNode(database, { id: 'a', memoryMb: 4_096 })
    await addNode(database, { id: 'b', memoryMb: 6_144 })
    const rows: InstanceRow[] = []
    for (let count = 0; count < 6; count++) rows.push(...(await create({ autostart: true, memoryMb: 1_024 })))
    const on = (id: string) => rows.filter((row) => row.nodeId === id).length
    assert.deepEqual([on('a'), on('b')], [2, 4])
    assert.ok(rows.every((row) => row.privateIp.startsWith(row.nodeId === 'a' ? '10.64.0.' : '10.64.16.')))
  })

  it('get the launch spec of their own instances that are not deleted, and of no others', async () => {
    await addNode(database, { id: 'a' })
    await setQuotas(database, 'ann', { hard: { imageMb: 5_000 }, limits: {} })
    const asked = { name: 'web', env: { KEY: 'value' }, args: ['serve'], memoryMb: 256, scaleToZero: sleepy }
    const [row] = await create(asked)
    assert.deepEqual(await loadLaunchSpec(deps(), { nodeId: 'a', uuid: row!.uuid }), {
      uuid: row!.uuid,
      name: 'web',
      userUuid: user.uuid,
      image: testImage,
      imageQuotaMb: 5_000,
      memoryMb: 256,
      vcpus: 1,
      args: ['serve'],
      env: { KEY: 'value' },
      privateIp: row!.privateIp,
      mac: row!.mac,
      state: row!.state,
      scaleToZero: sleepy,
    })
    assert.equal(await loadLaunchSpec(deps(), { nodeId: 'b', uuid: row!.uuid }), undefined)
    await markDeleted(database, user.uuid, row!.uuid)
    assert.equal(await loadLaunchSpec(deps(), { nodeId: 'a', uuid: row!.uuid }), undefined)
  })

  it('keep an instance, and its image, until its row is removed', async () => {
    await addNode(database, { id: 'a' })
    const [row] = await create()
    await markDeleted(database, user.uuid, row!.uuid)
    assert.deepEqual((await instancesOfNode(database, 'a')).instances, [
      { uuid: row!.uuid, state: InstanceState.Stopped, boot: 0, serviceUuid: null },
    ])
    assert.deepEqual(await imagesInUse(database, 'a'), [testImage])
    await removeInstanceRow(database, row!.uuid)
    assert.deepEqual(await instancesOfNode(database, 'a'), { instances: [], arriving: [] })
    assert.deepEqual(await imagesInUse(database, 'a'), [])
  })

  it('leave instances to the sweep whose workflow was not started or that are deleted but still there', async () => {
    await addNode(database, { id: 'a' })
    const rows = await create({ replicas: 2, autostart: true, deleteOnStop: true, scaleToZero: sleepy })
    const [first, second, third] = rows.map((row) => row.uuid)
    await markWorkflowStarted(database, [first!])
    // PostgreSQL rounds the time of a row, so it may lie up to a millisecond in the future.
    const all = { olderThanMs: -1_000, limit: 10 }
    const unstarted = await findUnstarted(database, all)
    assert.deepEqual(unstarted.map((one) => one.instanceUuid).toSorted(), [second!, third!].toSorted())
    assert.deepEqual(unstarted[0], {
      instanceUuid: unstarted[0]?.instanceUuid,
      name: rows.find(({ uuid }) => uuid === unstarted[0]?.instanceUuid)?.name,
      userUuid: user.uuid,
      nodeId: 'a',
      autostart: true,
      deleteOnStop: true,
      restartPolicy: 'never',
      scaleToZero: sleepy,
    })
    assert.equal((await findUnstarted(database, { ...all, limit: 1 })).length, 1)
    assert.deepEqual(await findUnstarted(database, { ...all, olderThanMs: 60_000 }), [])
    await markDeleted(database, user.uuid, first!)
    const deleted = await findDeletedRows(database, all)
    assert.deepEqual(
      deleted.map((instance) => instance.instanceUuid),
      [first],
    )
    assert.deepEqual(await findDeletedRows(database, { ...all, olderThanMs: 60_000 }), [])
    await removeInstanceRow(database, first!)
    assert.deepEqual(await findDeletedRows(database, all), [])
  })
})
