/** The input with which the workflow of an autoscale configuration is started if it does not run. */
export interface AutoscaleSettings {
  readonly serviceUuid: string
  /** The user's name for the service, for people who look at the workflow. */
  readonly serviceName: string
  readonly userUuid: string
  /**
   * The size that the row records, if an earlier workflow wrote one. If that workflow was terminated, the
   * new one continues from this size.
   */
  readonly target?: number
}

/**
 * The task queue on which services are watched. A configuration takes a slot of its worker nearly all the
 * time, and no other activity must wait for such a slot.
 */
export const autoscaleTaskQueue = 'autoscale'
