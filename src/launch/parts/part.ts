import type { Confinement } from './part-confinement.ts'

/** One process of the stack, as the supervisor needs to know it. */
export interface Part {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  /**
   * A part of Roost's own: it inherits the supervisor's whole environment, where its settings are. Any other
   * inherits only what says where it runs (`part-environment.ts`), because some settings are secrets.
   */
  readonly readsSettings?: boolean
  /** Added to what it inherits. */
  readonly env?: Readonly<Record<string, string>>
  readonly workingDirectory?: string
  /** Absent: it is who the supervisor is. */
  readonly confinement?: Confinement | undefined
  /** Users can keep it busy as they like: it has processors only where nobody else wants them. */
  readonly givesWay?: boolean
  readonly stopSignal: 'SIGTERM' | 'SIGINT'
  /** How long it may take to end before it is killed. */
  readonly stopLimitMs: number
  /** Called before each start, the first and those after a crash. */
  prepare?(): Promise<void>
  /** Resolves once the part does its work. Called after each start; rejects when `signal` aborts. */
  ready(signal: AbortSignal): Promise<void>
  /** What can only be done once the part runs for the first time; the next part waits for it. */
  afterFirstReady?(): Promise<void>
}
