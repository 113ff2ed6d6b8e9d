import type { News } from '../src/domain/event/news.ts'
import type { InstanceProjection } from '../src/domain/instance/projection.ts'
import type { Database } from '../src/db/database.ts'
import { recordCertificate } from '../src/db/certificate/records.ts'
import type { CertificateLife } from '../src/domain/certificate/lifecycle.ts'
import { recordInstance } from '../src/db/instance/projection.ts'
import { moveRow } from '../src/db/instance/move.ts'
import { placeAnew } from '../src/db/instance/place-anew.ts'
import { markEphemeralDeleted, removeInstanceRow } from '../src/db/instance/records.ts'
import type { WriteRefusal } from '../src/db/refused.ts'
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
  /**
   * Places an instance on another host, because its host is lost. A repeat answers as the first call. `lack`
   * says why there is no host for it at present.
   */
  placeAnew(input: {
    readonly instanceUuid: string
    readonly lostNodeId: string
  }): Promise<{ readonly nodeId?: string; readonly lack?: string }>
  /**
   * Makes the new host of a move the host of the instance and of its volume. A repeat answers as the first
   * call. `failure` says for people why the row still names the old one.
   */
  moveRow(input: {
    readonly instanceUuid: string
    readonly from: string
    readonly to: string
    /** The volume that was fetched with it. */
    readonly volumeUuid?: string
  }): Promise<{ readonly failure?: string }>
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
  /** Says in a sentence why nothing could be placed. Without it, the kind of the refusal is told. */
  readonly refusalSentence?: (refusal: WriteRefusal) => string
}

export function createControlActivities({
  database,
  lookAgain,
  refusalSentence = ({ kind }) => kind,
}: ControlDeps): ControlActivities {
  return {
    async placeAnew(lost) {
      const outcome = await placeAnew(database, lost)
      if (!outcome.ok) return { lack: refusalSentence(outcome.refusal) }
      // Without a row there is no host to be found. The workflow hears of the deletion by itself.
      return { nodeId: outcome.value ?? lost.lostNodeId }
    },
    async moveRow(move) {
      const outcome = await moveRow(database, move)
      if (outcome.ok) return outcome.value === undefined ? {} : { failure: outcome.value }
      return { failure: refusalSentence(outcome.refusal) }
    },
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
