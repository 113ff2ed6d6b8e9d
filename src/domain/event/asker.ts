/** Who caused an event. */
export const AskerKind = {
  /** A token of the user, over the API. */
  Token: 'token',
  /** A request or a connection to the instance's service, or a packet of another instance. */
  Traffic: 'traffic',
  /** The instance's own settings: its restart policy or its scale-to-zero policy. */
  Policy: 'policy',
  Autoscale: 'autoscale',
  /** A schedule of the user. Its name is the asker's. */
  Schedule: 'schedule',
  /** A rollout that the user asked for. The asker's name is that of the service. */
  Rollout: 'rollout',
  /** The host, by what it observed. */
  Host: 'host',
  /** The platform itself, such as a renewal that is due. */
  Platform: 'platform',
  /** A person at the command line of the platform. */
  Operator: 'operator',
} as const
export type AskerKind = (typeof AskerKind)[keyof typeof AskerKind]

/** Plain JSON: it travels through workflows, so it never holds a secret. */
export interface Asker {
  readonly by: AskerKind
  /** The label or the UUID of the token, the id of the host, or the name of the schedule or service. */
  readonly name?: string
  /** The id of the request to the API. */
  readonly requestId?: string
}

export const thePlatform: Asker = { by: AskerKind.Platform }
export const theOperator: Asker = { by: AskerKind.Operator }
