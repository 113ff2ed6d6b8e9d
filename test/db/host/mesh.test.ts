import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { recordHeartbeat } from '../../../src/db/host/hosts.ts'
import { admitHost, inviteHost, joinedParts, removeJoinedHost } from '../../../src/db/host/joining.ts'
import { readMesh } from '../../../src/db/host/mesh.ts'
import { HostRole } from '../../../src/domain/host/role.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { addUser, testAgentSecret, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

describe('the gateways in the mesh', () => {
  let own: TestDatabase
  let database: Database
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'mesh' })
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const join = async (hostId: string, roles: readonly HostRole[] = []) => {
    await inviteHost(database, { hostId, secret: hostId, roles })
    assert.ok(
      (
        await admitHost(database, {
          secret: hostId,
          keySha256: `key of ${hostId}`,
          roleKeys: { gateway: 'key' },
        })
      ).ok,
    )
  }

  const beat = async (id: string, joined = true, meshKey = `mesh key of ${id}`) => {
    const node = { id, firstSubnet: '10.64.0.0/20', joined }
    const heartbeat = {
      agentUrl: joined ? `https://${id}.example:7071` : 'http://127.0.0.1:7071',
      agentSecret: testAgentSecret(id),
      accelerator: 'tcg',
      memoryMb: 4_096,
      volumeMb: 0,
      occupiedSubnets: [],
      version: '0.1.0',
      mesh: { publicKey: meshKey, endpoint: '192.0.2.1:51820' },
    } as const
    const assigned = await recordHeartbeat({ database, secretBox: testSecretBox }, node, heartbeat)
    return assigned!.subnet.replace('.0/20', '.1')
  }

  it('are those of the first machine and of machines with the role, until they are removed', async () => {
    const first = await beat('local', false)
    await join('h2', [HostRole.Gateway])
    await join('h3')
    const before = await readMesh(database)
    assert.deepEqual([before.gateways, before.gatewayHosts], [[first], ['h2']])
    const second = await beat('h2')
    await beat('h3')
    const { gateways, gatewayHosts, machines, revision } = await readMesh(database)
    assert.deepEqual([gateways, gatewayHosts, machines.length], [[first, second], ['h2'], 3])
    await removeJoinedHost(database, 'h2')
    const after = await readMesh(database)
    assert.deepEqual([after.gateways, after.gatewayHosts, after.machines.length], [[first], [], 2])
    assert.notEqual(after.revision, revision)
  })

  it('do not lose their place to a host that tells the key of another one', async () => {
    await beat('local', false)
    await join('h2')
    await join('h3')
    await beat('h2')
    const victim = await beat('h3')
    for (let time = 0; time < 2; time++) {
      await beat('h2', true, 'mesh key of h3')
      await beat('h3')
    }
    const { machines } = await readMesh(database)
    assert.deepEqual(
      machines.map(({ publicKey }) => publicKey),
      ['mesh key of local', 'mesh key of h3'],
    )
    assert.equal(machines[1]?.address, victim)
    await beat('h2')
    assert.equal((await readMesh(database)).machines.length, 3, 'it is in the mesh again with its own key')
  })

  it('are told where the instances are that moved there with their addresses', async () => {
    await beat('local', false)
    const user = await addUser(database, { name: 'ann' })
    const wanted = wantedInstance(user, { replicas: 3 })
    const outcome = await insertInstances({ database, secretBox: testSecretBox }, wanted)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    const uuids = outcome.instances.map(({ uuid }) => uuid)
    await join('h2')
    const second = await beat('h2')
    const before = await readMesh(database)
    const subnetOf = (address: string) => address.replace(/1$/, '0/20')
    const networks = async () => {
      const { machines } = await readMesh(database)
      return machines.map((machine) => machine.networks)
    }
    assert.deepEqual(await networks(), [['10.64.0.0/20'], [subnetOf(second)]])
    const move = async (index: number, node: string, seat: string | null) =>
      await readRows<{ readonly private_ip: string }>(database, {
        text: 'update instances set node_id = $2, seat_ip = $3 where uuid = $1 returning private_ip',
        values: [uuids[index], node, seat],
      })
    // The later address moves first, so that only sorting puts it last.
    const moved: string[] = []
    for (const index of [2, 0]) {
      const seat = second.replace(/1$/, String(index + 10))
      const [row] = await move(index, 'h2', seat)
      moved.push(`${row!.private_ip}/32`)
    }
    assert.deepEqual(await networks(), [['10.64.0.0/20'], [subnetOf(second), ...moved.toSorted()]])
    const after = await readMesh(database)
    assert.notEqual(after.revision, before.revision)
    assert.equal((await readMesh(database)).revision, after.revision)
    await markDeleted(database, user.uuid, uuids[2]!)
    await move(0, 'local', null)
    assert.deepEqual(await networks(), [['10.64.0.0/20'], [subnetOf(second)]])
  })

  it('are told to those who ask for their metrics once they were heard of', async () => {
    await join('h2', [HostRole.Gateway])
    await join('h3')
    assert.deepEqual(await joinedParts(database), [])
    await beat('h2')
    await beat('h3')
    assert.deepEqual(
      (await joinedParts(database)).map(({ hostId, agentUrl }) => [hostId, agentUrl]),
      [['h2', 'https://h2.example:7071']],
    )
  })
})
