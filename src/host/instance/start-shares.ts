import { availableParallelism } from 'node:os'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { AgentObserver } from '../agent/agent-ports.ts'
import { FairSemaphore } from '../../primitives/fair-semaphore.ts'
import { memoryWaits } from './record.ts'
import type { InstanceRecord } from './record.ts'

/** After this time a start does not count any more. It is several times what a healthy start takes. */
const countsForMs = 10_000
/**
 * The checks at the same time: as many as `file-system-check.ts` lets run, and three quarters of them for
 * one user.
 */
const checksAtOnce = 8
const checksPerUser = 6

/**
 * Shares the starts of a host between its users when many instances come up at once. One user has at most a
 * part of the places, so some are free for the others at any time: a wake does not wait for a thousand
 * starts that another user asked for before it.
 */
export class StartShares {
  readonly #restores: FairSemaphore
  readonly #boots: FairSemaphore
  readonly #checks: FairSemaphore

  constructor(observer: Pick<AgentObserver, 'waited'>, cores = availableParallelism()) {
    const share = (perUser: number, size: number): FairSemaphore =>
      new FairSemaphore({ size, perUser, countsForMs }, (waitedMs) => {
        observer.waited(waitedMs)
      })
    // A restore takes some 0.1 s, and part of that is the work of the disk and the keeper.
    this.#restores = share(3 * cores, 4 * cores)
    // An emulated boot uses a core all the time, so one more start per user is prepared meanwhile. The VMM
    // lets as many boot as there are cores.
    this.#boots = share(cores + 1, cores + 1 + Math.ceil(cores / 2))
    this.#checks = share(checksPerUser, checksAtOnce)
  }

  /** Runs all of a wake, the check of its volume included. */
  async wake<Result>(
    record: InstanceRecord,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const share = memoryWaits(record) ? this.#restores : this.#boots
    return await share.run(record.nic.userUuid, signal, work)
  }

  /**
   * Runs the start of a VM that begins afresh, from a template or by a boot, once all that it needs is
   * there.
   */
  async boot(userUuid: string, signal: AbortSignal, work: () => Promise<StartReport>): Promise<StartReport> {
    return await this.#boots.run(userUuid, signal, work)
  }

  /**
   * Runs the check of a volume for a start that is not a wake. It goes on beside the image's pull, which may
   * take long, and so does not take the place of a VM.
   */
  async check<Result>(userUuid: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    return await this.#checks.run(userUuid, signal, work)
  }
}
