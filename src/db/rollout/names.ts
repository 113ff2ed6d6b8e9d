import type { InstanceRow } from '../instance/row.ts'
import type { Db } from '../schema/tables.ts'

/**
 * Lets each pair swap its names. A name is unique at every moment, so one of the two has its UUID as its name
 * in between, which nobody outside the transaction sees.
 */
export async function swapNames(
  db: Db,
  pairs: readonly { readonly next: InstanceRow; readonly old: InstanceRow }[],
): Promise<void> {
  for (const { next, old } of pairs) {
    await rename(db, old.uuid, old.uuid)
    await rename(db, next.uuid, old.name)
    await rename(db, old.uuid, next.name)
  }
}

async function rename(db: Db, uuid: string, name: string): Promise<void> {
  await db.updateTable('instances').set({ name }).where('uuid', '=', uuid).execute()
}
