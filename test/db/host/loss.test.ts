import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { absenceOf, overlookNodes, releaseNode } from '../../../src/db/host/administration.ts'
import { findNode, heartbeatAges, isNodeSecret, recordHeartbeat } from '../../../src/db/host/hosts.ts'
import { KnownAgents } from '../../../src/db/host/known-agents.ts'
import {
  declareLost,
  forgetRemoved,
  instancesToTell,
  isStillLost,
  leavingOn,
  readHostOnLoss,
  readTerms,
  removeAsLost,
} from '../../../src/db/host/loss.ts'
import { readMesh } from '../../../src/db/host/mesh.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { markDeleted } from '../../../src/db/instance/instances.ts'
import { removeInstanceRow } from '../../../src/db/instance/records.ts'
import type { NodeHeartbeat } from '../../../src/domain/host/api-protocol.ts'
import { addNode, addUser, testAgentSecret, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

const termMs = 60_000
const subnet = '10.64.0.0/20'

describe('lost hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let known: KnownAgents
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'loss' })
    user = await addUser(database, { name: 'ann' })
    known = new KnownAgents()
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const beat = async (told: Partial<NodeHeartbeat> = {}, id = 'h2') =>
    await recordHeartbeat(
      { database, secretBox: testSecretBox, known },
      { id, firstSubnet: subnet },
      {
        agentUrl: 'http://127.0.0.1:7171',
        agentSecret: testAgentSecret(id),
        accelerator: 'fake',
        memoryMb: 65_536,
        volumeMb: 1_048_576,
        occupiedSubnets: [],
        version: '1',
        ...told,
      },
    )
  const seen = async (id = 'h2') => (await readTerms(database)).find((term) => term.id === id)!
  const lose = async (id = 'h2') => assert.ok(await declareLost(database, id, await seen(id)))
  const create = async (count = 1) => {
    const outcome = await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance(user, { replicas: count - 1 }),
    )
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances
  }
  const set = async (text: string, ...values: readonly unknown[]) =>
    readRows(database, { text, values: [...values] })

  it('have a row of what they told, and of nothing if they tell nothing', async () => {
    assert.deepEqual(await beat({ termMs, loss: 0 }), { nodeId: 'h2', subnet, loss: 0 })
    assert.partialDeepStrictEqual(await seen(), { termMs, loss: 0, lostAt: null })
    // The first heartbeat takes the long way, and the next ones the short one.
    assert.deepEqual(await beat({ termMs: 10_000, loss: 0 }), { nodeId: 'h2', subnet, loss: 0 })
    assert.equal((await seen()).termMs, 10_000)
    await beat({ loss: 0 })
    assert.equal((await seen()).termMs, null)
  })

  it('are declared once, if nobody heard them meanwhile', async () => {
    await beat({ termMs, loss: 0 })
    const before = await seen()
    await beat({ termMs, loss: 0 })
    assert.equal(await declareLost(database, 'h2', before), false, 'a heartbeat came')
    const now = await seen()
    assert.equal(await declareLost(database, 'h2', { ...now, termMs: 10_000 }), false, 'the term changed')
    assert.equal(await declareLost(database, 'h3', now), false)
    assert.equal(await declareLost(database, 'h2', now), true)
    assert.equal(await declareLost(database, 'h2', now), false)
    const { loss, lostAt } = await seen()
    assert.equal(loss, 1)
    assert.ok(lostAt !== null)
  })

  it('are not declared by a call that waits for the heartbeat that is being written', async () => {
    await beat({ termMs, loss: 0 })
    const before = await seen()
    let declared: Promise<boolean> | undefined
    await database.db.transaction().execute(async (db) => {
      await db.updateTable('nodes').set({ heartbeatAt: new Date() }).where('id', '=', 'h2').execute()
      declared = declareLost(database, 'h2', before)
      await waitsForRow()
    })
    assert.equal(await declared, false)
    assert.equal((await seen()).loss, 0)
  })

  it('are answered with the number of the loss by a heartbeat that waits for it', async () => {
    for (const isKnown of [true, false]) {
      const id = isKnown ? 'h2' : 'h3'
      await beat({ termMs, loss: 0 }, id)
      if (!isKnown) known = new KnownAgents()
      let heard: ReturnType<typeof beat> | undefined
      await database.db.transaction().execute(async (db) => {
        const lost = { loss: 1, lostAt: new Date() }
        await db.updateTable('nodes').set(lost).where('id', '=', id).execute()
        heard = beat({ termMs, loss: 0 }, id)
        await waitsForRow()
      })
      assert.equal((await heard)?.loss, 1)
      assert.ok((await seen(id)).lostAt !== null)
    }
  })

  /** Until a statement waits for the lock of a row. */
  async function waitsForRow(): Promise<void> {
    const text =
      "select 1 as one from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    for (let tries = 0; tries < 500; tries++) {
      if ((await readRows(database, { text })).length > 0) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.fail('nothing waits')
  }

  it('are so until they tell the number of their loss, and agents that tell none stay so', async () => {
    await beat({ termMs, loss: 0 })
    await lose()
    for (const told of [{ termMs, loss: 0 }, { termMs, loss: 2 }, {}]) {
      assert.equal((await beat(told))?.loss, 1)
      assert.ok((await seen()).lostAt !== null)
      assert.equal((await findNode({ database, secretBox: testSecretBox }, 'h2'))?.live, false)
    }
    assert.equal((await beat({ termMs, loss: 1 }))?.loss, 1)
    assert.equal((await seen()).lostAt, null)
    assert.equal((await findNode({ database, secretBox: testSecretBox }, 'h2'))?.live, true)
    await beat({ termMs, loss: 1 })
    await lose()
    assert.equal((await seen()).loss, 2)
  })

  it('take nothing new, although they are heard', async () => {
    await beat({ termMs, loss: 0 })
    await lose()
    await beat({ termMs, loss: 0 })
    const wanted = () => insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user))
    assert.equal((await wanted()).ok, false)
    assert.ok((await absenceOf(database, 'h2'))?.lostAt)
    await beat({ termMs, loss: 1 })
    assert.equal((await wanted()).ok, true)
    assert.equal(await absenceOf(database, 'h2'), undefined)
    assert.partialDeepStrictEqual(await heartbeatAges(database), [{ id: 'h2', isLost: false, losses: 1 }])
  })

  it('have counts of what begins elsewhere, what waits and what is being deleted', async () => {
    await beat({ termMs, loss: 0 })
    const [, , gone, kept] = await create(4)
    await set("update nodes set heartbeat_at = now() where id = 'h2'")
    await markDeleted(database, user.uuid, gone!.uuid)
    await addVolume('v1', { holder: kept!.uuid })
    await addVolume('v2', { isDeleted: true })
    assert.partialDeepStrictEqual(await readHostOnLoss(database, 'h2'), {
      moving: 2,
      staying: 1,
      leaving: 1,
      volumes: 2,
      leavingVolumes: 1,
      removedAt: null,
    })
    assert.partialDeepStrictEqual(await overlookNodes(database), [{ withVolume: 1 }])
    const left = await leavingOn(database, 'h2', 10)
    assert.deepEqual([left.instances, left.volumes.length], [[gone!.uuid], 1])
    assert.equal(await readHostOnLoss(database, 'h3'), undefined)
  })

  const addVolume = async (
    name: string,
    { holder, isDeleted = false }: { readonly holder?: string; readonly isDeleted?: boolean },
  ) => {
    const [{ uuid } = { uuid: '' }] = await readRows<{ uuid: string }>(database, {
      text: `insert into volumes (uuid, name, user_uuid, node_id, size_mb, phase, persistent, deleted_at)
        values (gen_random_uuid(), $1, $2, 'h2', 8, 'ready', true, ${isDeleted ? 'now()' : 'null'}) returning uuid`,
      values: [name, user.uuid],
    })
    if (holder !== undefined)
      await set("update instances set volume_uuid = $1, volume_at = '/data' where uuid = $2", uuid, holder)
    return uuid
  }

  it('have their instances told in pages: what ran, what sleeps, what is stopped, what goes', async () => {
    await beat({ termMs, loss: 0 })
    const uuids = (await create(6)).map(({ uuid }) => uuid)
    const [stopped, sleeper, ran, gone, starts, kept] = uuids
    await set("update instances set state = 'standby' where uuid = $1", sleeper)
    await set("update instances set state = 'running' where uuid in ($1, $2)", ran, kept)
    await set("update instances set state = 'starting' where uuid = $1", starts)
    await markDeleted(database, user.uuid, gone!)
    await addVolume('v1', { holder: kept! })
    const told: string[] = []
    let after
    for (;;) {
      const page = await instancesToTell(database, 'h2', { isOfAll: true, after, limit: 2 })
      told.push(...page.map(({ row }) => row.uuid))
      after = page.at(-1)?.cursor
      if (after === undefined) break
    }
    assert.deepEqual(told, [...[ran!, starts!, kept!].toSorted(), sleeper, stopped, gone])
    const moving = await instancesToTell(database, 'h2', { isOfAll: false, limit: 10 })
    assert.deepEqual(
      moving.map(({ row }) => row.uuid),
      [...[ran!, starts!].toSorted(), sleeper, stopped],
    )
  })

  it('that are removed are refused for good, and are forgotten once nothing is on them', async () => {
    await beat({ termMs, loss: 0, mesh: { publicKey: `${'A'.repeat(43)}=`, endpoint: '192.0.2.7:51820' } })
    const [one] = await create()
    assert.equal((await readMesh(database)).machines.length, 1)
    assert.equal(await removeAsLost(database, 'h3'), undefined)
    assert.equal(await forgetRemoved(database, 'h2'), false)
    const removed = await removeAsLost(database, 'h2')
    assert.partialDeepStrictEqual(removed, { loss: 1, moving: 1, termMs })
    assert.partialDeepStrictEqual(await removeAsLost(database, 'h2'), { loss: 1, lostAt: removed!.lostAt })
    assert.equal(await beat({ termMs, loss: 1 }), undefined)
    known = new KnownAgents()
    assert.equal(await beat({ termMs, loss: 1 }), undefined)
    assert.equal(
      await isNodeSecret({ database, secretBox: testSecretBox }, 'h2', testAgentSecret('h2')),
      false,
    )
    assert.equal((await readMesh(database)).machines.length, 0)
    await set("update nodes set heartbeat_at = now() - interval '1 hour'")
    assert.equal((await releaseNode(database, 'h2')).ok, false)
    assert.equal(await forgetRemoved(database, 'h2'), false)
    await removeInstanceRow(database, one!.uuid)
    assert.equal(await forgetRemoved(database, 'h2'), true)
    assert.deepEqual(await readTerms(database), [])
  })

  it('are told of only as long as they have not cleared up', async () => {
    await beat({ termMs, loss: 0 })
    assert.equal(await isStillLost(database, { id: 'h2', loss: 0 }), false)
    await lose()
    assert.equal(await isStillLost(database, { id: 'h2', loss: 1 }), true)
    assert.equal(await isStillLost(database, { id: 'h2', loss: 2 }), false)
    await beat({ termMs, loss: 1 })
    assert.equal(await isStillLost(database, { id: 'h2', loss: 1 }), false)
  })

  it('leave other hosts alone', async () => {
    await addNode(database, { id: 'h1' })
    await beat({ termMs, loss: 0 })
    await lose()
    const [one] = await create()
    assert.equal(one?.nodeId, 'h1')
    assert.equal((await seen('h1')).lostAt, null)
  })
})
