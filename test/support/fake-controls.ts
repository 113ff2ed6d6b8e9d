import type { Database } from '../../src/db/database.ts'
import { createFakeAutoscaleControl } from './fake-autoscale-control.ts'
import { createFakeCertificateControl } from './fake-certificate-control.ts'
import { createFakeControl } from './fake-control.ts'
import { createFakeHostControl } from './fake-host-control.ts'
import { createFakeRolloutControl } from './fake-rollout-control.ts'
import { createFakeScheduleControl } from './fake-schedule-control.ts'
import { createFakeVolumeControl } from './fake-volume-control.ts'

/** The calls to workflows that an API makes, without Temporal. */
export type FakeControls = ReturnType<typeof createFakeControls>

export function createFakeControls(database: Database) {
  return {
    control: createFakeControl(database),
    volumeControl: createFakeVolumeControl(database),
    certificateControl: createFakeCertificateControl(),
    autoscaleControl: createFakeAutoscaleControl(),
    scheduleControl: createFakeScheduleControl(),
    rolloutControl: createFakeRolloutControl(),
    hostControl: createFakeHostControl(),
  }
}
