import { strict as assert } from 'node:assert'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import { setUse } from '../../../src/db/host/administration.ts'
import { endDrain } from '../../../src/db/host/drain.ts'
import { recordHeartbeat } from '../../../src/db/host/hosts.ts'
import { KnownAgents } from '../../../src/db/host/known-agents.ts'
import { declareLost, readTerms, removeAsLost } from '../../../src/db/host/loss.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { removeInstanceRow } from '../../../src/db/instance/records.ts'
import { AskerKind } from '../../../src/domain/event/asker.ts'
import { UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { UpgradeState } from '../../../src/domain/host/upgrade.ts'
import type { HostUpgrade } from '../../../src/domain/host/upgrade.ts'
import { HostUse } from '../../../src/domain/host/use.ts'
import { addUser, testAgentSecret, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const termMs = 60_000
const asker = { by: AskerKind.Token, name: 'ci', requestId: 'r1' }

describe('events of hosts', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let administrators: readonly string[]
  let known: KnownAgents
  beforeEach(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'host-events' })
    user = await addUser(database, { name: 'ann' })
    const added = [
      await addUser(database, { name: 'bob', admin: true }),
      await addUser(database, { name: 'cid', admin: true }),
    ]
    administrators = added.map(({ uuid }) => uuid)
    known = new KnownAgents()
    await beat(0)
  })
  afterEach(async () => {
    await database.close()
    await own.drop()
  })

  const beat = async (loss: number, upgrade?: HostUpgrade, mayTellUpgrade = true) =>
    await recordHeartbeat(
      { database, secretBox: testSecretBox, known, mayTellUpgrade: () => mayTellUpgrade },
      { id: 'h2', firstSubnet: '10.64.0.0/20' },
      {
        agentUrl: 'http://127.0.0.1:7171',
        agentSecret: testAgentSecret('h2'),
        accelerator: 'fake',
        memoryMb: 65_536,
        volumeMb: 1_048_576,
        occupiedSubnets: [],
        version: '1',
        termMs,
        loss,
        ...(upgrade && { upgrade }),
      },
    )
  const seen = async () => (await readTerms(database))[0]!
  const change = async (use: HostUse) => assert.ok((await setUse(database, 'h2', use, asker)).ok)

  /** What each administrator was told, which is the same for all. Nobody else was told anything. */
  async function told(): Promise<readonly string[]> {
    const rows = await database.db
      .selectFrom('events')
      .select(['userUuid', 'kind', 'objectName', 'objectUuid', 'stateBefore', 'stateAfter', 'why'])
      .select(['askedBy', 'askerName', 'requestId'])
      .where('kind', 'in', [UserEventKind.HostState, UserEventKind.HostUse, UserEventKind.HostUpgrade])
      .orderBy('position')
      .execute()
    const texts = administrators.map((uuid) =>
      rows
        .filter(({ userUuid }) => userUuid === uuid)
        .map((row) => {
          assert.deepEqual([row.objectName, row.objectUuid], ['h2', null])
          const { kind, stateBefore, stateAfter, why, askedBy, askerName, requestId } = row
          const by = [askedBy, askerName, requestId].filter((part) => part !== null).join(' ')
          return `${kind} ${stateBefore ?? '-'} ${stateAfter ?? '-'} by ${by}: ${why}`
        }),
    )
    assert.deepEqual(texts[0], texts[1])
    assert.equal(rows.length, texts.flat().length, 'another account was told')
    return texts[0]!
  }

  it('tell once who cordoned it, emptied it, took that back, and opened it', async () => {
    assert.deepEqual(await told(), [])
    const uses = [HostUse.Open, HostUse.Cordoned, HostUse.Draining, HostUse.Cordoned, HostUse.Draining]
    for (const use of [...uses, HostUse.Open]) for (let time = 0; time < 2; time++) await change(use)
    assert.deepEqual(await told(), [
      'host.use open cordoned by token ci r1: nothing new is placed there',
      'host.use cordoned draining by token ci r1: its instances move to other hosts',
      'host.use draining cordoned by token ci r1: its drain is taken back; nothing new is placed there',
      'host.use cordoned draining by token ci r1: its instances move to other hosts',
      'host.use draining open by token ci r1: its drain is taken back; new instances and volumes are placed there again',
    ])
  })

  it('name an operator whose command set it', async () => {
    await setUse(database, 'h2', HostUse.Cordoned)
    assert.deepEqual(await told(), ['host.use open cordoned by operator: nothing new is placed there'])
  })

  it('tell once of two that cordon it at the same time', async () => {
    let changes: Promise<unknown> | undefined
    await database.db.transaction().execute(async (db) => {
      await db.updateTable('nodes').set({ version: '2' }).where('id', '=', 'h2').execute()
      changes = Promise.all([change(HostUse.Cordoned), change(HostUse.Cordoned)])
      await until('both wait for the row', async () => (await waiting()) === 2, { limitMs: 10_000 })
    })
    await changes
    assert.equal((await told()).length, 1)
  })

  /** How many statements wait for a lock. */
  async function waiting(): Promise<number> {
    const text =
      "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return (await readRows(database, { text })).length
  }

  it('tell once that its drain is over, and not before', async () => {
    const outcome = await insertInstances(
      { database, secretBox: testSecretBox },
      wantedInstance(user, { name: 'web' }),
    )
    assert.ok(outcome.ok)
    await change(HostUse.Draining)
    assert.equal(await endDrain(database, 'h2'), false)
    assert.equal((await told()).length, 1)
    await removeInstanceRow(database, outcome.instances[0]!.uuid)
    assert.equal(await endDrain(database, 'h2'), true)
    assert.equal(await endDrain(database, 'h2'), false)
    const over = 'host.use draining cordoned by platform: no instance is left on it'
    assert.deepEqual((await told()).slice(1), [over])
  })

  it('tell once that it is lost, and once that it is back', async () => {
    const lost = 'host.state - lost by platform: it was not heard for longer than its term'
    const back = 'host.state lost live by host h2: it was heard again, and has cleared up'
    const before = await seen()
    for (const isDeclared of [true, false])
      assert.equal(await declareLost(database, 'h2', before), isDeclared)
    for (const loss of [0, 0]) await beat(loss)
    assert.deepEqual(await told(), [lost])
    for (const loss of [1, 1]) await beat(loss)
    assert.deepEqual(await told(), [lost, back])
    // So it is if the API that hears it has begun anew.
    assert.ok(await declareLost(database, 'h2', await seen()))
    known = new KnownAgents()
    for (const loss of [1, 2, 2]) await beat(loss)
    assert.deepEqual(await told(), [lost, back, lost, back])
  })

  it('tell a step of an upgrade later, if there were too many', async () => {
    const upgrade = { state: UpgradeState.Done, from: '1', to: '2', beganAtMs: 1 }
    for (const mayTell of [false, false]) assert.ok(await beat(0, upgrade, mayTell))
    assert.deepEqual(await told(), [])
    for (const mayTell of [true, false, true]) assert.ok(await beat(0, upgrade, mayTell))
    assert.deepEqual(await told(), ['host.upgrade - done by host h2: all parts are of Roost 2'])
  })

  it('tell who removed it as lost, unless it was lost already', async () => {
    await declareLost(database, 'h2', await seen())
    await removeAsLost(database, 'h2', asker)
    assert.equal((await told()).length, 1)
    await database.db.updateTable('nodes').set({ lostAt: null, removedAt: null }).execute()
    for (let time = 0; time < 2; time++) await removeAsLost(database, 'h2', asker)
    assert.deepEqual((await told()).slice(1), [
      'host.state - lost by token ci r1: an administrator removed it as lost',
    ])
    await removeAsLost(database, 'h3', asker)
    assert.equal((await told()).length, 2)
  })
})
