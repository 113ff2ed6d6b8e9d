import {
  findDeletedAutoscales,
  findRetiredClones,
  findUnstartedAutoscales,
  markAutoscaleStarted,
} from '../db/autoscale/records.ts'
import type { RetiredClone } from '../db/autoscale/records.ts'
import { findUnstartedCertificates, markCertificateWorkflowStarted } from '../db/certificate/records.ts'
import type { Database } from '../db/database.ts'
import { findDeletedRows, findUnstarted, findUntold, markWorkflowStarted } from '../db/instance/records.ts'
import type { SweepBounds } from '../db/workflow-rows.ts'
import { findDeletedVolumes, findUnstartedVolumes, markVolumeWorkflowStarted } from '../db/volume/records.ts'
import { findUnstartedRollouts, markRolloutStarted } from '../db/rollout/records.ts'
import { findDeletedSchedules, findUntoldSchedules } from '../db/schedule/records.ts'
import type { AutoscaleSettings } from '../domain/autoscale/settings.ts'
import type { CertificateSettings } from '../domain/certificate/settings.ts'
import type { InstanceSettings } from '../domain/instance/settings.ts'
import type { RolloutSettings } from '../domain/rollout/settings.ts'
import type { ScheduleSettings } from '../domain/schedule/settings.ts'
import type { VolumeSettings } from '../domain/volume/settings.ts'
import type { AutoscaleControl } from './autoscale-control.ts'
import type { CertificateControl } from './certificate-control.ts'
import type { InstanceControl } from './instance-control.ts'
import type { RolloutControl } from './rollout-control.ts'
import type { ScheduleControl } from './schedule-control.ts'
import { removeSchedule, tellSchedule } from './told-schedule.ts'
import type { VolumeControl } from './volume-control.ts'

/** One kind of row that has a workflow as long as the row exists. */
export interface SweptEntity {
  readonly name: string
  /** Rows whose workflow is not known to have been started, oldest first. */
  unstarted(bounds: SweepBounds): Promise<readonly SweptRow[]>
  /** Rows that are marked deleted and still exist, longest deleted first. */
  deleted(bounds: SweepBounds): Promise<readonly SweptRow[]>
  markStarted(uuids: readonly string[]): Promise<void>
}

export interface SweptRow {
  readonly uuid: string
  start(): Promise<void>
  delete(): Promise<void>
}

/**
 * The request id of each `retire` that the sweep sends. The workflow acts on the first one. Repeats with the
 * same id do not make its history grow.
 */
const retiredBySweep = 'retired-by-sweep'

interface EntityParts<Settings> {
  readonly name: string
  readonly uuidOf: (settings: Settings) => string
  readonly findUnstarted: (database: Database, bounds: SweepBounds) => Promise<readonly Settings[]>
  readonly findDeleted: (database: Database, bounds: SweepBounds) => Promise<readonly Settings[]>
  readonly markStarted: (database: Database, uuids: readonly string[]) => Promise<void>
  readonly control: {
    ensureStarted(settings: Settings): Promise<void>
    delete(settings: Settings): Promise<void>
  }
}

/**
 * The kinds of rows that the sweep looks at, in its order. Instances come before volumes, because a volume
 * can be removed only when its instance is gone. For a retired clone the sweep repeats `retire` until the
 * clone's row is gone.
 */
export function sweptEntities(
  database: Database,
  control: {
    readonly instances: InstanceControl
    readonly volumes: VolumeControl
    readonly certificates: CertificateControl
    readonly autoscales: AutoscaleControl
    readonly schedules: ScheduleControl
    readonly rollouts: RolloutControl
  },
): readonly SweptEntity[] {
  return [
    swept<InstanceSettings>(database, {
      name: 'instance',
      uuidOf: ({ instanceUuid }) => instanceUuid,
      findUnstarted,
      findDeleted: findDeletedRows,
      markStarted: markWorkflowStarted,
      control: control.instances,
    }),
    changedInstances(database, control.instances),
    swept<RetiredClone>(database, {
      name: 'retired clone',
      uuidOf: ({ settings }) => settings.instanceUuid,
      // Clones are instances, so the first kind starts their workflows.
      findUnstarted: async () => [],
      findDeleted: findRetiredClones,
      markStarted: markWorkflowStarted,
      control: {
        ensureStarted: ({ settings }) => control.instances.ensureStarted(settings),
        delete: ({ settings, drainMs, asker }) =>
          control.instances.retire(settings, drainMs, retiredBySweep, asker),
      },
    }),
    swept<VolumeSettings>(database, {
      name: 'volume',
      uuidOf: ({ volumeUuid }) => volumeUuid,
      findUnstarted: findUnstartedVolumes,
      findDeleted: findDeletedVolumes,
      markStarted: markVolumeWorkflowStarted,
      control: control.volumes,
    }),
    swept<CertificateSettings>(database, {
      name: 'certificate',
      uuidOf: ({ certificateUuid }) => certificateUuid,
      findUnstarted: findUnstartedCertificates,
      // The row of a deleted certificate goes at once, and a workflow without a row ends by itself.
      findDeleted: async () => [],
      markStarted: markCertificateWorkflowStarted,
      control: {
        ensureStarted: (settings) => control.certificates.ensureStarted(settings),
        delete: ({ certificateUuid }) => control.certificates.delete(certificateUuid),
      },
    }),
    swept<AutoscaleSettings>(database, {
      name: 'autoscale configuration',
      uuidOf: ({ serviceUuid }) => serviceUuid,
      findUnstarted: findUnstartedAutoscales,
      findDeleted: findDeletedAutoscales,
      markStarted: markAutoscaleStarted,
      control: {
        // `ensureStarted` would have no effect on a workflow that is just ending.
        ensureStarted: (settings) => control.autoscales.configured(settings),
        delete: (settings) => control.autoscales.delete(settings),
      },
    }),
    sweptSchedules(database, control),
    sweptRollouts(database, control.rollouts),
  ]
}

/** Rollouts whose workflow was not started. A rollout ends by itself, and its row stays. */
function sweptRollouts(database: Database, rollouts: RolloutControl): SweptEntity {
  return swept<RolloutSettings>(database, {
    name: 'rollout',
    uuidOf: ({ rolloutUuid }) => rolloutUuid,
    findUnstarted: findUnstartedRollouts,
    findDeleted: async () => [],
    markStarted: markRolloutStarted,
    control: {
      ensureStarted: (settings) => rollouts.ensureStarted(settings),
      delete: async () => undefined,
    },
  })
}

/** Schedules of whose last change, or of whose deletion, Temporal has not heard. */
function sweptSchedules(
  database: Database,
  control: { readonly instances: InstanceControl; readonly schedules: ScheduleControl },
): SweptEntity {
  const parts = { database, ...control }
  return swept<ScheduleSettings>(database, {
    name: 'schedule',
    uuidOf: ({ scheduleUuid }) => scheduleUuid,
    findUnstarted: findUntoldSchedules,
    findDeleted: findDeletedSchedules,
    // Telling notes the version in the row.
    markStarted: async () => undefined,
    control: {
      ensureStarted: (settings) => tellSchedule(parts, settings),
      delete: ({ scheduleUuid }) => removeSchedule(parts, scheduleUuid),
    },
  })
}

/** Instances of whose last change their workflow has not heard. The sweep repeats it until it has. */
function changedInstances(database: Database, instances: InstanceControl): SweptEntity {
  return swept<InstanceSettings>(database, {
    name: 'changed instance',
    uuidOf: ({ instanceUuid }) => instanceUuid,
    findUnstarted: async () => [],
    findDeleted: findUntold,
    markStarted: markWorkflowStarted,
    control: {
      ensureStarted: (settings) => instances.ensureStarted(settings),
      async delete(settings) {
        await instances.change(settings, `changed-by-sweep-${settings.config?.version ?? 0}`)
      },
    },
  })
}

function swept<Settings>(database: Database, parts: EntityParts<Settings>): SweptEntity {
  const rows = (found: readonly Settings[]): readonly SweptRow[] =>
    found.map((settings) => ({
      uuid: parts.uuidOf(settings),
      start: () => parts.control.ensureStarted(settings),
      delete: () => parts.control.delete(settings),
    }))
  return {
    name: parts.name,
    unstarted: async (bounds) => rows(await parts.findUnstarted(database, bounds)),
    deleted: async (bounds) => rows(await parts.findDeleted(database, bounds)),
    markStarted: (uuids) => parts.markStarted(database, uuids),
  }
}
