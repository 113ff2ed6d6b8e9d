import type { InstanceProjection } from '../src/domain/instance-projection.ts'
import type { Database } from '../src/db/database.ts'
import { recordInstance } from '../src/db/projection.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../src/db/sweep.ts'

/** What an instance's workflow does in PostgreSQL, as local activities of the worker. All are idempotent. */
export interface ControlActivities {
  /** Writes a state and wakes whoever waits for it. Older revisions than the row's change nothing. */
  recordInstance(input: {
    readonly instanceUuid: string
    readonly revision: number
    readonly projection: InstanceProjection
  }): Promise<void>
  /** Makes an instance that deletes itself invisible, as a delete by hand does before its workflow hears of it. */
  hideInstance(input: { readonly instanceUuid: string }): Promise<void>
  /** The host is clean: nothing is left but the row. */
  deleteInstanceRow(input: { readonly instanceUuid: string }): Promise<void>
}

export function createControlActivities({ database }: { readonly database: Database }): ControlActivities {
  return {
    async recordInstance({ instanceUuid, revision, projection }) {
      await recordInstance(database, { uuid: instanceUuid, revision }, projection)
    },
    async hideInstance({ instanceUuid }) {
      await markEphemeralDeleted(database, instanceUuid)
    },
    async deleteInstanceRow({ instanceUuid }) {
      await removeInstanceRow(database, instanceUuid)
    },
  }
}
