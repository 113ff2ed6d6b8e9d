import { Client, Connection } from '@temporalio/client'
import type { AutoscaleControl } from './autoscale-control.ts'
import type { CertificateControl } from './certificate-control.ts'
import type { HostControl } from './host-control.ts'
import type { InstanceControl } from './instance-control.ts'
import { createAutoscaleControl } from './temporal-autoscale-control.ts'
import { createCertificateControl } from './temporal-certificate-control.ts'
import { createHostControl } from './temporal-host-control.ts'
import { createInstanceControl } from './temporal-instance-control.ts'
import { createVolumeControl } from './temporal-volume-control.ts'
import { createRolloutControl } from './temporal-rollout-control.ts'
import { createScheduleControl } from './temporal-schedule-control.ts'
import { connectionOptions } from '../trust/temporal-tls.ts'
import type { TemporalServer } from '../trust/temporal-tls.ts'
import { tracedCalls } from './temporal-traces.ts'
import type { RolloutControl } from './rollout-control.ts'
import type { ScheduleControl } from './schedule-control.ts'
import type { VolumeControl } from './volume-control.ts'

export interface TemporalAddress extends TemporalServer {
  readonly namespace: string
}

/** A part's connection to Temporal, and its calls to the workflows. */
export interface TemporalControl {
  readonly instances: InstanceControl
  readonly volumes: VolumeControl
  readonly certificates: CertificateControl
  readonly autoscales: AutoscaleControl
  readonly schedules: ScheduleControl
  readonly rollouts: RolloutControl
  readonly hosts: HostControl
  /** Asks whether Temporal answers. Throws if it does not answer in time. */
  check(): Promise<void>
  close(): Promise<void>
}

/**
 * The time limit of `check`. A healthy server is always faster. `check` serves requests for the readiness of
 * a part, which are frequent.
 */
const checkDeadlineMs = 1_000

/** Connects with the first call, and reconnects by itself whenever Temporal was away. */
export function openTemporalControl(place: TemporalAddress): TemporalControl {
  const connection = Connection.lazy(connectionOptions(place))
  const client = new Client({
    connection,
    namespace: place.namespace,
    interceptors: { workflow: [tracedCalls] },
  })
  return {
    instances: createInstanceControl(client),
    volumes: createVolumeControl(client),
    certificates: createCertificateControl(client),
    autoscales: createAutoscaleControl(client),
    schedules: createScheduleControl(client),
    rollouts: createRolloutControl(client),
    hosts: createHostControl(client),
    async check() {
      await connection.withDeadline(Date.now() + checkDeadlineMs, () =>
        connection.workflowService.describeNamespace({ namespace: place.namespace }),
      )
    },
    close: () => connection.close(),
  }
}
