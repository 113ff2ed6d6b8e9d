import type { InstanceProjection } from '../src/domain/instance/projection.ts'
import type { Database } from '../src/db/database.ts'
import { recordCertificate } from '../src/db/certificate/records.ts'
import type { CertificateLife } from '../src/domain/certificate/lifecycle.ts'
import { recordInstance } from '../src/db/instance/projection.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../src/db/instance/records.ts'
import { recordVolume, removeVolumeRow } from '../src/db/volume/records.ts'
import type { VolumeRecord } from '../src/db/volume/records.ts'

/**
 * What the workflows of instances, volumes and certificates do in PostgreSQL, as local activities of the
 * worker. All are idempotent.
 */
export interface ControlActivities {
  /** Writes a state and wakes whoever waits for it. Older revisions than the row's change nothing. */
  recordInstance(input: {
    readonly instanceUuid: string
    readonly revision: number
    readonly projection: InstanceProjection
  }): Promise<void>
  /**
   * Makes an instance that deletes itself invisible, as a delete by hand does before its workflow hears of
   * it.
   */
  hideInstance(input: { readonly instanceUuid: string }): Promise<void>
  /** The host is clean: nothing is left but the row. */
  deleteInstanceRow(input: { readonly instanceUuid: string }): Promise<void>
  /** Writes how far a volume is. Older revisions than the row's change nothing. */
  recordVolume(input: {
    readonly volumeUuid: string
    readonly revision: number
    readonly record: VolumeRecord
  }): Promise<void>
  /** It is erased: nothing is left but the row. */
  deleteVolumeRow(input: { readonly volumeUuid: string }): Promise<void>
  /**
   * Writes how far a requested certificate is. Older revisions than the row's change nothing. Answers whether
   * there is a row.
   */
  recordCertificate(input: {
    readonly certificateUuid: string
    readonly revision: number
    readonly record: Pick<CertificateLife, 'state' | 'attempt' | 'nextAtMs' | 'failure'>
  }): Promise<boolean>
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
    async recordVolume({ volumeUuid, revision, record }) {
      await recordVolume(database, { uuid: volumeUuid, revision }, record)
    },
    async deleteVolumeRow({ volumeUuid }) {
      await removeVolumeRow(database, volumeUuid)
    },
    async recordCertificate({ certificateUuid, revision, record: { nextAtMs, ...record } }) {
      const nextAt = nextAtMs === undefined ? undefined : new Date(nextAtMs)
      return recordCertificate(database, { uuid: certificateUuid, revision }, { ...record, nextAt })
    },
  }
}
