import type { Database } from '../../src/db/database.ts'
import { insertInstances } from '../../src/db/instance/create.ts'
import type { InstanceRow } from '../../src/db/instance/row.ts'
import { findByUuids } from '../../src/db/instance/instances.ts'
import { strict as assert } from 'node:assert'
import { testSecretBox, wantedInstance } from './accounts.ts'

/** Adds a clone of the master to the database. Its row is like that of a clone that autoscale made. */
export async function addClone(
  database: Database,
  master: Pick<InstanceRow, 'uuid' | 'userUuid' | 'serviceUuid'>,
): Promise<InstanceRow> {
  assert.ok(master.serviceUuid !== null)
  const service = { existing: { uuid: master.serviceUuid } }
  const made = await insertInstances(
    { database, secretBox: testSecretBox },
    wantedInstance({ uuid: master.userUuid }, { service, autostart: true }),
  )
  assert.ok(made.ok, JSON.stringify(made))
  const { uuid } = made.instances[0]!
  await database.db.updateTable('instances').set({ cloneOf: master.uuid }).where('uuid', '=', uuid).execute()
  const [clone] = await findByUuids(database, [uuid])
  assert.ok(clone)
  return clone
}

/** Whether an instance is marked as given back or as deleted. Undefined if it has no row. */
export async function fateOf(database: Database, uuid: string): Promise<Fate | undefined> {
  const row = await database.db
    .selectFrom('instances')
    .select(['deletedAt', 'retiredAt', 'retireDrainMs'])
    .where('uuid', '=', uuid)
    .executeTakeFirst()
  return (
    row && {
      deleted: row.deletedAt !== null,
      retired: row.retiredAt !== null,
      drainMs: row.retireDrainMs,
    }
  )
}

interface Fate {
  readonly deleted: boolean
  readonly retired: boolean
  readonly drainMs: number | null
}
