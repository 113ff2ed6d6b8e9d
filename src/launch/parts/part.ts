import type { Confinement } from './part-confinement.ts'

/** What the supervisor needs to know about one process of the stack. */
export interface Part {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
  /**
   * True for Roost's own parts: they inherit the supervisor's whole environment, because it holds their
   * settings. Other programs inherit only the variables that say where they run (`part-environment.ts`),
   * because some settings are secrets.
   */
  readonly readsSettings?: boolean
  /** Variables that are added to the inherited ones. */
  readonly env?: Readonly<Record<string, string>>
  readonly workingDirectory?: string
  /** The part's own user and rights. Without it the part runs as the supervisor's user. */
  readonly confinement?: Confinement | undefined
  /**
   * True if users can keep the part busy as long as they like. Then it gets processors only when they are
   * free.
   */
  readonly givesWay?: boolean
  readonly stopSignal: 'SIGTERM' | 'SIGINT'
  /** The time that the part has to end before it is killed. */
  readonly stopLimitMs: number
  /** Called before each start, the first and those after a crash. */
  prepare?(): Promise<void>
  /** Resolves once the part does its work. Called after each start; rejects when `signal` aborts. */
  ready(signal: AbortSignal): Promise<void>
  /** Does what is only possible once the part runs for the first time. The next part waits for it. */
  afterFirstReady?(): Promise<void>
}
