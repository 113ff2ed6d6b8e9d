import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import type { InstanceRow } from '../../../src/db/instance/row.ts'
import { findByUuids, releaseLive, reserveLive } from '../../../src/db/instance/instances.ts'
import { recordInstance } from '../../../src/db/instance/projection.ts'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import { removeInstanceRow } from '../../../src/db/instance/records.ts'
import type { UserRecord } from '../../../src/db/account/users.ts'
import type { InstanceProjection } from '../../../src/domain/instance/projection.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

const stopped: InstanceProjection = {
  state: InstanceState.Stopped,
  boot: 0,
  startCount: 0,
  restartCount: 0,
  restartAttempt: 0,
  uptimeMs: 0,
}
const running: InstanceProjection = {
  ...stopped,
  state: InstanceState.Running,
  boot: 3,
  startCount: 3,
  restartCount: 2,
  startedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  uptimeMs: 2 ** 40,
  bootTimeUs: 250_000,
  vmmStartTimeUs: 1,
  vmmLoadTimeUs: 2,
  vmmReadyTimeUs: 3,
  netTimeUs: 300_000,
  startKind: 'boot',
}

describe('the projection of an instance', () => {
  let own: TestDatabase
  let database: Database
  let user: UserRecord
  let users = 0
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'projection' })
    await addNode(database)
  })
  after(async () => {
    await database.close()
    await own.drop()
  })
  beforeEach(async () => {
    user = await addUser(database, {
      name: `user${users++}`,
      hard: { liveInstances: 2, liveMemoryMb: 1_024 },
    })
  })

  async function addInstances(replicas = 0): Promise<readonly InstanceRow[]> {
    const deps = { database, secretBox: testSecretBox }
    const outcome = await insertInstances(deps, wantedInstance(user, { replicas }))
    assert.ok(outcome.ok)
    return outcome.instances
  }
  const read = async (uuid: string) => (await findByUuids(database, [uuid]))[0]
  const used = async () => (await readQuotas(database, user.uuid))?.used.liveInstances

  it('knows since when an instance is in its state, also after records of the same state', async () => {
    const [row] = await addInstances()
    const { uuid } = row!
    let revision = 0
    const since = async (state: InstanceState, bootTimeUs: number) => {
      await recordInstance(database, { uuid, revision: ++revision }, { ...running, state, bootTimeUs })
      const text = 'select state_since::text as at from instances where uuid = $1'
      const [found] = await readRows<{ at: string }>(database, { text, values: [uuid] })
      return found!.at
    }
    const first = await since(InstanceState.Starting, 1)
    assert.equal(await since(InstanceState.Starting, 2), first)
    const second = await since(InstanceState.Running, 3)
    assert.notEqual(second, first)
    assert.equal(await since(InstanceState.Running, 4), second)
  })

  it('is what was recorded, field by field', async () => {
    const [row] = await addInstances()
    const recorded = await recordInstance(database, { uuid: row!.uuid, revision: 7 }, running)
    assert.deepEqual(recorded, { isWritten: true })
    const { startedAtMs, ...fields } = running
    const expected = { ...row, ...fields, startedAt: new Date(startedAtMs!), revision: 7 }
    assert.deepEqual(await read(row!.uuid), expected)
    const crashed: InstanceProjection = {
      ...stopped,
      restartAttempt: 4,
      restartNextAtMs: 1_000,
      stoppedAtMs: 2_000,
      stopReason: 1,
      stopCode: 0xff_ff_ff,
      exitCode: 255,
      failure: 'the host is full',
      failureKind: 'HostFull',
    }
    await recordInstance(database, { uuid: row!.uuid, revision: 8 }, crashed)
    const { restartNextAtMs, stoppedAtMs, ...more } = crashed
    const times = { restartNextAt: new Date(restartNextAtMs!), stoppedAt: new Date(stoppedAtMs!) }
    assert.deepEqual(await read(row!.uuid), { ...row, ...more, ...times, revision: 8 })
  })

  it('never goes back, in whatever order and however often records arrive', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 8 }),
        async (revisions) => {
          const [row] = await addInstances()
          let highest = 0
          for (const revision of revisions) {
            const { isWritten } = await recordInstance(
              database,
              { uuid: row!.uuid, revision },
              { ...running, startCount: revision },
            )
            assert.equal(isWritten, revision > highest)
            highest = Math.max(highest, revision)
            assert.equal((await read(row!.uuid))?.startCount, highest)
          }
          await removeInstanceRow(database, row!.uuid)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('of an instance that is gone is not recorded', async () => {
    const [row] = await addInstances()
    await removeInstanceRow(database, row!.uuid)
    const recorded = await recordInstance(database, { uuid: row!.uuid, revision: 1 }, running)
    assert.deepEqual(recorded, { isWritten: false })
  })

  it('no start is admitted that would pass a live quota, however many starts come at once', async () => {
    const rows = await addInstances(5)
    const outcomes = await Promise.all(rows.map((row) => reserveLive(database, user.uuid, row.uuid)))
    assert.equal(outcomes.filter((outcome) => outcome.ok).length, 2)
    assert.equal(await used(), 2)
    assert.deepEqual(
      outcomes.find((outcome) => !outcome.ok),
      {
        ok: false,
        refusal: { kind: 'quota', excess: { quota: 'liveInstances', value: 3, bound: 2 } },
      },
    )
  })

  it('a place is kept from the admission until the stop', async () => {
    const [row, other] = await addInstances(2)
    await reserveLive(database, user.uuid, row!.uuid)
    await recordInstance(database, { uuid: row!.uuid, revision: 1 }, stopped)
    assert.equal(await used(), 1, 'a stop recorded late does not end the admission of the next start')
    await recordInstance(database, { uuid: row!.uuid, revision: 2 }, running)
    assert.equal(await used(), 1)
    await recordInstance(database, { uuid: row!.uuid, revision: 3 }, stopped)
    assert.equal(await used(), 0)
    await reserveLive(database, user.uuid, other!.uuid)
    await releaseLive(database, other!.uuid)
    assert.equal(await used(), 0)
  })

  it('an instance that waits for a restart keeps its place in the live quotas', async () => {
    const [row] = await addInstances()
    await recordInstance(
      database,
      { uuid: row!.uuid, revision: 1 },
      { ...stopped, restartNextAtMs: Date.now() },
    )
    assert.equal(await used(), 1)
  })

  it('the start of a live instance is admitted again without another place', async () => {
    const rows = await addInstances(1)
    for (const row of rows) await recordInstance(database, { uuid: row.uuid, revision: 1 }, running)
    assert.deepEqual(await reserveLive(database, user.uuid, rows[0]!.uuid), { ok: true })
    assert.equal(await used(), 2)
  })

  it('no start by another user is admitted', async () => {
    const [row] = await addInstances()
    const other = await addUser(database, { name: `user${users++}` })
    const outcome = await reserveLive(database, other.uuid, row!.uuid)
    assert.deepEqual(outcome, { ok: false, refusal: { kind: 'not-found' } })
  })
})
