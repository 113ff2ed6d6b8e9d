import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { HostRole } from '../../../src/domain/host/role.ts'
import { overlookNodes, releaseNode, setUse } from '../../../src/db/host/administration.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import {
  admitHost,
  awaitedHosts,
  invitationMs,
  inviteHost,
  joinedMachines,
  removeJoinedHost,
} from '../../../src/db/host/joining.ts'
import { recordHeartbeat } from '../../../src/db/host/hosts.ts'
import { KnownAgents } from '../../../src/db/host/known-agents.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { createVolume } from '../../../src/db/volume/create.ts'
import {
  addNode,
  addUser,
  hearNode,
  testAgentSecret,
  testSecretBox,
  wantedInstance,
} from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

describe('machines that join as hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let secrets = 0
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'joining' })
    user = await addUser(database, { name: 'ann' })
    await addNode(database, { id: 'local' })
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  /** Invites a machine. Undefined if the id is taken. */
  const invite = async (hostId?: string, roles: readonly HostRole[] = []) => {
    const secret = `secret ${secrets++}`
    const made = await inviteHost(database, { hostId, secret, roles })
    return made && { secret, hostId: made.hostId, expiresAt: made.expiresAt }
  }
  const roleKeys = { gateway: 'key of a gateway', worker: 'key of a worker' }
  const admit = async (secret: string, keySha256 = 'key') =>
    await admitHost(database, { secret, keySha256, roleKeys })
  const join = async (hostId: string, key = `key of ${hostId}`) => {
    const invited = await invite(hostId)
    assert.ok(invited, `${hostId} is taken`)
    assert.deepEqual(await admit(invited.secret, key), { ok: true, hostId, roles: [] })
  }
  const keys = async () =>
    [...(await joinedMachines(database))].map(([hostId, { keySha256 }]) => [hostId, keySha256])
  const beat = async (id: string) => {
    const node = { id, firstSubnet: '10.64.0.0/16', joined: true }
    const heartbeat = {
      agentUrl: 'https://192.0.2.9:7071',
      agentSecret: testAgentSecret(id),
      accelerator: 'tcg',
      memoryMb: 4_096,
      volumeMb: 0,
      occupiedSubnets: [],
      version: '0.1.0',
    } as const
    assert.ok(await recordHeartbeat({ database, secretBox: testSecretBox }, node, heartbeat))
  }
  const silence = async (id: string) =>
    await readRows(database, {
      text: 'update nodes set heartbeat_at = to_timestamp(0) where id = $1',
      values: [id],
    })
  const expire = async (hostId: string) =>
    await readRows(database, {
      text: "update host_invitations set expires_at = now() - interval '1 ms' where host_id = $1",
      values: [hostId],
    })
  const countOf = async (table: string, column: string, hostId: string) =>
    (await readRows(database, { text: `select 1 from ${table} where ${column} = $1`, values: [hostId] }))
      .length

  it('get the first number that is free', async () => {
    assert.equal((await invite())?.hostId, 'h2')
    assert.equal((await invite())?.hostId, 'h3')
    await join('h5')
    await hearNode(database, { id: 'h4' })
    assert.equal((await invite())?.hostId, 'h6')
    await removeJoinedHost(database, 'h5')
    assert.equal((await invite())?.hostId, 'h5')
  })

  it('get different ids when they are invited at once', async () => {
    const invited = await Promise.all(Array.from({ length: 12 }, async () => (await invite())?.hostId))
    assert.deepEqual(new Set(invited), new Set(Array.from({ length: 12 }, (_, index) => `h${index + 2}`)))
    assert.equal(invited.length, 12)
    const named = await Promise.all(Array.from({ length: 8 }, async () => await invite('attic')))
    assert.equal(named.filter((one) => one !== undefined).length, 1)
  })

  it('get no id of a host, of another invitation, or of a machine that joined', async () => {
    assert.equal(await invite('local'), undefined)
    assert.ok(await invite('attic'))
    assert.equal(await invite('attic'), undefined)
    await join('cellar')
    assert.equal(await invite('cellar'), undefined, 'before its first heartbeat')
    await hearNode(database, { id: 'cellar' })
    assert.equal(await invite('cellar'), undefined)
  })

  it('may get an id that was released, and its new key takes the place of the old one', async () => {
    await join('attic', 'old')
    await hearNode(database, { id: 'attic' })
    await silence('attic')
    assert.deepEqual(await releaseNode(database, 'attic'), { ok: true })
    await join('attic', 'new')
    assert.deepEqual(await keys(), [['attic', 'new']])
    assert.deepEqual(await removeJoinedHost(database, 'attic'), { ok: true })
  })

  it('have the roles of their invitation, also when they ask again, and a role cordons them', async () => {
    const { secret } = (await invite('attic', [HostRole.Gateway]))!
    for (let time = 0; time < 2; time++)
      assert.deepEqual(await admit(secret), { ok: true, hostId: 'attic', roles: ['gateway'] })
    await join('cellar')
    const machines = await joinedMachines(database)
    assert.deepEqual([machines.get('attic')?.roles, machines.get('cellar')?.roles], [['gateway'], []])
    for (const id of ['attic', 'cellar']) await beat(id)
    const seen = async () =>
      (await overlookNodes(database)).map(({ id, roles, cordonedAt }) => [id, roles, cordonedAt !== null])
    assert.deepEqual(await seen(), [
      ['attic', ['gateway'], true],
      ['cellar', [], false],
      ['local', [], false],
    ])
    await setUse(database, 'attic', HostUse.Open)
    await beat('attic')
    assert.deepEqual((await seen())[0], ['attic', ['gateway'], false], 'its next heartbeats change nothing')
  })

  it('have a key of its own for the part of each role, or do not join', async () => {
    const { secret } = (await invite('attic', [HostRole.Api, HostRole.Worker]))!
    const asked = { secret, keySha256: 'key' }
    for (const incomplete of [{}, { gateway: 'a key' }])
      assert.deepEqual(await admitHost(database, { ...asked, roleKeys: incomplete }), {
        ok: false,
        refusal: 'no-key',
      })
    const admission = { ok: true, hostId: 'attic', roles: ['api', 'worker'] }
    assert.deepEqual(await admit(secret), admission)
    const worker = { worker: 'key of a worker' }
    assert.deepEqual((await joinedMachines(database)).get('attic')?.roleKeys, worker)
    assert.deepEqual(await admitHost(database, { ...asked, roleKeys: worker }), admission)
    assert.deepEqual(await admitHost(database, { ...asked, roleKeys: { worker: 'another' } }), {
      ok: false,
      refusal: 'used',
    })
  })

  it('have no role of a machine that had their id before', async () => {
    await admit((await invite('attic', [HostRole.Gateway]))!.secret)
    await removeJoinedHost(database, 'attic')
    await join('attic', 'another')
    assert.deepEqual((await joinedMachines(database)).get('attic'), {
      keySha256: 'another',
      roles: [],
      roleKeys: {},
    })
  })

  it('are refused with a secret that is not known', async () => {
    assert.deepEqual(await admit('none'), { ok: false, refusal: 'unknown' })
    const invited = await invite()
    assert.deepEqual(await admit(invited!.secret.toUpperCase()), { ok: false, refusal: 'unknown' })
    assert.equal((await joinedMachines(database)).size, 0)
  })

  it('have an hour, and then the id is free', async () => {
    const before = Date.now()
    const invited = await invite('attic')
    assert.ok(Math.abs(invited!.expiresAt.getTime() - before - invitationMs) < 60_000)
    await expire('attic')
    assert.deepEqual(await admit(invited!.secret), { ok: false, refusal: 'expired' })
    assert.equal((await joinedMachines(database)).size, 0)
    assert.ok(await invite('attic'))
    assert.deepEqual(await admit(invited!.secret), { ok: false, refusal: 'unknown' })
  })

  it('may ask again with their key, and no other machine may', async () => {
    const { secret, hostId } = (await invite())!
    assert.deepEqual(await admit(secret, 'mine'), { ok: true, hostId, roles: [] })
    assert.deepEqual(await admit(secret, 'mine'), { ok: true, hostId, roles: [] })
    assert.deepEqual(await admit(secret, 'yours'), { ok: false, refusal: 'used' })
    assert.deepEqual(await keys(), [[hostId, 'mine']])
  })

  it('are one of several that come with one secret at once', async () => {
    const { secret, hostId } = (await invite())!
    const tried = Array.from({ length: 10 }, (_, index) => `key ${index}`)
    const outcomes = await Promise.all(tried.map(async (key) => await admit(secret, key)))
    const winners = tried.filter((_, index) => outcomes[index]?.ok)
    assert.equal(winners.length, 1)
    assert.deepEqual(await keys(), [[hostId, winners[0]]])
  })

  it('are not removed while they have instances or volumes', async () => {
    await join('attic')
    await hearNode(database, { id: 'attic' })
    await silence('local')
    const outcome = await insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user))
    assert.ok(outcome.ok && outcome.instances[0]?.nodeId === 'attic')
    const volume = await createVolume({ database }, { userUuid: user.uuid, sizeMb: 64 })
    assert.ok(volume.ok && volume.volume.nodeId === 'attic')
    assert.deepEqual(await removeJoinedHost(database, 'attic'), { ok: false, refusal: 'has-instances' })
    await readRows(database, { text: 'delete from instances' })
    assert.deepEqual(await removeJoinedHost(database, 'attic'), { ok: false, refusal: 'has-volumes' })
    assert.equal((await joinedMachines(database)).size, 1)
    await readRows(database, { text: 'delete from volumes' })
    assert.deepEqual(await removeJoinedHost(database, 'attic'), { ok: true })
  })

  it('are forgotten when they are removed, and their id may be invited again', async () => {
    const { secret } = (await invite('attic'))!
    await admit(secret)
    await hearNode(database, { id: 'attic' })
    assert.deepEqual(await removeJoinedHost(database, 'attic'), { ok: true })
    assert.equal((await joinedMachines(database)).size, 0)
    assert.equal(await countOf('nodes', 'id', 'attic'), 0)
    assert.equal(await countOf('host_invitations', 'host_id', 'attic'), 0)
    assert.deepEqual(
      await admit(secret),
      { ok: false, refusal: 'unknown' },
      'the same machine, the old secret',
    )
    await join('attic', 'another')
    assert.deepEqual(await keys(), [['attic', 'another']])
  })

  it('are awaited until their first heartbeat', async () => {
    const awaited = async () => [...(await awaitedHosts(database))].toSorted()
    assert.deepEqual(await awaited(), [])
    await invite('attic')
    await join('cellar')
    assert.deepEqual(await awaited(), ['attic', 'cellar'])
    await hearNode(database, { id: 'cellar' })
    assert.deepEqual(await awaited(), ['attic'])
    await removeJoinedHost(database, 'attic')
    assert.deepEqual(await awaited(), [])
  })

  it('are either removed or heard, if both come at once', async () => {
    const known = new KnownAgents()
    const beat = async (id: string) =>
      await recordHeartbeat(
        { database, secretBox: testSecretBox, known },
        { id, firstSubnet: '10.64.0.0/16', joined: true },
        {
          agentUrl: 'https://127.0.0.1:7071',
          agentSecret: testAgentSecret(id),
          accelerator: 'fake',
          memoryMb: 1,
          volumeMb: 1,
          imageBytes: {},
          occupiedSubnets: [],
          version: '0.1.0',
        },
      )
    for (let round = 0; round < 20; round++) {
      const id = `r${round}`
      await join(id)
      if (round % 2 === 0) assert.ok(await beat(id))
      await Promise.all([beat(id), removeJoinedHost(database, id), beat(id)])
      assert.equal(await beat(id), undefined)
      assert.equal(await countOf('nodes', 'id', id), 0, `round ${round}`)
    }
  })
})
