import type { News } from '../src/domain/event/news.ts'
import type { InstanceProjection } from '../src/domain/instance/projection.ts'
import type { Database } from '../src/db/database.ts'
import { recordCertificate } from '../src/db/certificate/records.ts'
import type { CertificateLife } from '../src/domain/certificate/lifecycle.ts'
import { recordInstance } from '../src/db/instance/projection.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../src/db/instance/records.ts'
import { recordVolume, removeVolumeRow } from '../src/db/volume/records.ts'
import type { VolumeRecord } from '../src/db/volume/records.ts'
import { span } from '../src/primitives/spans.ts'

/**
 * The writes to PostgreSQL by the workflows of instances, volumes and certificates. They run as local
 * activities of the worker. All are idempotent.
 */
export interface ControlActivities {
  /**
   * Writes a state and wakes those who wait for it. A revision that is not greater than the row's changes
   * nothing.
   */
  recordInstance(input: {
    readonly instanceUuid: string
    readonly revision: number
    readonly projection: InstanceProjection
    readonly news?: readonly News[]
  }): Promise<void>
  /**
   * Marks the row of an instance that deletes itself as deleted. If its user deletes it, the API does the
   * same before it tells the workflow.
   */
  hideInstance(input: { readonly instanceUuid: string }): Promise<void>
  /** Called when the host has removed the instance and only the row is left. */
  deleteInstanceRow(input: { readonly instanceUuid: string }): Promise<void>
  /** Writes how far a volume is. A revision that is not greater than the row's changes nothing. */
  recordVolume(input: {
    readonly volumeUuid: string
    readonly revision: number
    readonly record: VolumeRecord
    readonly news?: readonly News[]
  }): Promise<void>
  /** Called when the volume is erased and only the row is left. */
  deleteVolumeRow(input: { readonly volumeUuid: string }): Promise<void>
  /**
   * Writes how far a requested certificate is. A revision that is not greater than the row's changes
   * nothing. Returns whether the row exists.
   */
  recordCertificate(input: {
    readonly certificateUuid: string
    readonly revision: number
    readonly record: Pick<CertificateLife, 'state' | 'attempt' | 'nextAtMs' | 'failure'>
    readonly news?: readonly News[]
  }): Promise<boolean>
}

export interface ControlDeps {
  readonly database: Database
  /** Has a rollout look at once that may wait for a state. Without it, the rollout looks a little later. */
  readonly lookAgain?: (rolloutUuid: string) => void
}

export function createControlActivities({ database, lookAgain }: ControlDeps): ControlActivities {
  return {
    async recordInstance({ instanceUuid, revision, projection, news }) {
      const { rolloutUuid } = await span(instanceUuid, `worker: write of ${projection.state}`, () =>
        recordInstance(database, { uuid: instanceUuid, revision, news }, projection),
      )
      if (rolloutUuid !== undefined) lookAgain?.(rolloutUuid)
    },
    async hideInstance({ instanceUuid }) {
      await markEphemeralDeleted(database, instanceUuid)
    },
    async deleteInstanceRow({ instanceUuid }) {
      await removeInstanceRow(database, instanceUuid)
    },
    async recordVolume({ volumeUuid, revision, record, news }) {
      await recordVolume(database, { uuid: volumeUuid, revision, news }, record)
    },
    async deleteVolumeRow({ volumeUuid }) {
      await removeVolumeRow(database, volumeUuid)
    },
    async recordCertificate({ certificateUuid, revision, record: { nextAtMs, ...record }, news }) {
      const nextAt = nextAtMs === undefined ? undefined : new Date(nextAtMs)
      return recordCertificate(database, { uuid: certificateUuid, revision, news }, { ...record, nextAt })
    },
  }
}
