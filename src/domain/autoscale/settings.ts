/** What the workflow of an autoscale configuration is started with, should it not run. */
export interface AutoscaleSettings {
  readonly serviceUuid: string
  /** What its user calls the service: for people who look at its workflow. */
  readonly serviceName: string
  readonly userUuid: string
  /** The size that the row says, where a workflow wrote it: one that was terminated goes on from there. */
  readonly target?: number
}

/**
 * Where services are watched: each watch takes a slot of its worker for as long as its configuration exists.
 */
export const autoscaleTaskQueue = 'autoscale'
