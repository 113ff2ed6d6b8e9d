import { PlatformEnd } from '../end-signals.ts'
import type { Confinement } from './part-confinement.ts'

/** A signal at which a part ends in order. */
export type EndSignal = 'SIGTERM' | 'SIGINT'

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
   * True if users can keep the part busy for as long as they like. While processors are busy, such a part
   * gets less processor time than others (`part-process.ts`).
   */
  readonly givesWay?: boolean
  /**
   * True if the part hands its work over when it is restarted. It then has a channel to the supervisor
   * (`hand-over-messages.ts`). After SIGTERM it says that it wants to leave and works on; the supervisor
   * starts its successor, and lets it go once the successor is ready. Its `stopSignal` must not be SIGTERM.
   * If it is killed, the processes that it has started work on, until its successor is ready and they get
   * SIGTERM.
   */
  readonly handsOver?: boolean
  readonly stopSignal: EndSignal
  /**
   * The signal with which the part ends and leaves virtual machines running. It also gets this signal if its
   * supervisor is gone. Absent: `stopSignal`.
   */
  readonly keepVmsSignal?: EndSignal
  /** How long the part may take to stop before it is killed. */
  readonly stopLimitMs: number
  /** Called before each start: the first one, and each one after a crash. */
  prepare?(): Promise<void>
  /** Resolves once the part accepts work. Called after each start. Rejects when `signal` aborts. */
  ready(signal: AbortSignal): Promise<void>
  /**
   * Does work that is only possible while the part runs. It is called once, after the first start. The next
   * part starts only when it has ended.
   */
  afterFirstReady?(): Promise<void>
}

/** The signal with which a part ends when the platform does. */
export function endSignalOf({ stopSignal, keepVmsSignal }: Part, end: PlatformEnd): EndSignal {
  return end === PlatformEnd.KeepVms ? (keepVmsSignal ?? stopSignal) : stopSignal
}
