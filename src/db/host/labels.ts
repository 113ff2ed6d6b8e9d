import { changedLabels } from '../../domain/host/labels.ts'
import type { LabelChange } from '../../domain/host/labels.ts'
import type { Database } from '../database.ts'
import { json } from '../postgres-client.ts'

/**
 * Changes the labels of a host. False, and nothing is changed, if there would be too many. A host that is
 * gone has none to change.
 */
export async function changeLabels({ db }: Database, hostId: string, change: LabelChange): Promise<boolean> {
  return await db.transaction().execute(async (of) => {
    const node = await of
      .selectFrom('nodes')
      .select('labels')
      .where('id', '=', hostId)
      .forUpdate()
      .executeTakeFirst()
    if (node === undefined) return true
    const labels = changedLabels(node.labels, change)
    if (labels === undefined) return false
    await of
      .updateTable('nodes')
      .set({ labels: json(labels) })
      .where('id', '=', hostId)
      .execute()
    return true
  })
}
