/** The parts of the platform that have metrics. */
export const PlatformPart = {
  Api: 'api',
  Worker: 'worker',
  Gateway: 'gateway',
  /** The agent of a host. */
  Agent: 'agent',
} as const
export type PlatformPart = (typeof PlatformPart)[keyof typeof PlatformPart]

/** One process of a part, and where its metrics are. */
export interface PartPlace {
  readonly part: Exclude<PlatformPart, 'agent'>
  /** It distinguishes the processes of a part: the host and port of the address. */
  readonly name: string
  /** The address, such as `http://10.0.0.2:7073`. */
  readonly address: string
  /** Present on a machine that joined: what its certificate calls the part. */
  readonly certifiedAs?: string
  /** Present for a part beside an API on another machine: the address of that API, which passes it on. */
  readonly through?: string
  /** What users read instead of the name, if the part counts for them. Absent: its number. */
  readonly alias?: string
}
