import type { Logger } from 'pino'
import type { PartStop } from './parts/part-run.ts'

/**
 * What passes between the process that runs a platform and the version that is the platform. After an
 * upgrade the two are of different versions (`upgrade/next-version.ts`), so fields are only added here,
 * and a version does without those that are new.
 */

/** A part that can be stopped, started and replaced while the other parts run. */
export interface RunningPart {
  readonly name: string
  /** Whether it can give its work to a process that starts beside it (`Part.handsOver`). */
  readonly handsOver: boolean
  /** How often it has ended by itself since it was started. */
  readonly ends: number
  /**
   * Resolves once the part is ready. From then on it is started again whenever it ends. If it throws, the
   * part has to be stopped.
   */
  start(): Promise<void>
  /** Starts the part, and again and again until it is ready. Only a part that does not run. */
  insist(): void
  /** Resolves once all processes of the part are gone. Does nothing if the part does not run. */
  stop(how: PartStop): Promise<void>
  /**
   * Gives the work to what `startNext` starts, and lets this part's process leave in its own time. If
   * `startNext` throws, the part goes on as before, and the error is thrown on. Throws `CannotLeave` if the
   * part has ended, or does not want to leave in time; nothing was started then.
   */
  handOverTo(startNext: () => Promise<void>): Promise<void>
}

/** The parts of one version on this machine, and what has to be done around them. */
export interface Platform {
  readonly version: string
  /** The directory of the version's code. */
  readonly checkout: string
  /** The parts, in the order of their start. */
  readonly parts: readonly RunningPart[]
  /** What comes before the first start of a part. */
  prepare(): Promise<void>
  /** What is said once all parts are ready. */
  welcome(): string
  /** Lets go what this version keeps open beside its parts. It is called once none of them runs. */
  release(): Promise<void>
  /** What comes after the end of all parts, when the machine's platform ends. */
  finish(): Promise<void>
}

/** The process that runs the platform. It stays the same when another version takes over. */
export interface PlatformProcess {
  /** With the data directory, which would else follow from the version's own directory. */
  readonly environment: NodeJS.ProcessEnv
  readonly runDirectory: string
  readonly log: Logger
  readonly onLine: (part: string, line: string) => void
  readonly enterGroup?: ((pid: number) => void) | undefined
  /** Aborts when the platform ends. From then on no part is started. */
  readonly closing: AbortSignal
  /** Whether the parts of another version run, which have the ports. */
  readonly takesOver: boolean
}

/** Opens the platform of one version. It starts nothing. */
export type OpenPlatform = (platformProcess: PlatformProcess) => Promise<Platform>
