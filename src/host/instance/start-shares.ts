import { availableParallelism } from 'node:os'
import type { StartReport } from '../../domain/instance/start-report.ts'
import type { AgentObserver } from '../agent/agent-ports.ts'
import { FairSemaphore } from '../../primitives/fair-semaphore.ts'
import { memoryWaits } from './record.ts'
import type { InstanceRecord } from './record.ts'

/** Several times what a start takes that nothing is wrong with. */
const countsForMs = 10_000
/** As many as `file-system-check.ts` lets run; three quarters of them for one user. */
const checksAtOnce = 8
const checksPerUser = 6

/**
 * What the users of a host share when many instances come up at once. One user has at most a part of the
 * places, so that there are some for the others at any time: a wake does not wait for the thousand of another
 * user that were asked for before it.
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
    // Some 0.1 s each, in which the disk and the keeper have their part.
    this.#restores = share(3 * cores, 4 * cores)
    // Emulated, each uses a core all the time; one more is prepared meanwhile. The VMM lets as many boot as
    // there are cores.
    this.#boots = share(cores + 1, cores + 1 + Math.ceil(cores / 2))
    this.#checks = share(checksPerUser, checksAtOnce)
  }

  /** All that a wake does, the check of its volume included. */
  async wake<Result>(
    record: InstanceRecord,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const share = memoryWaits(record) ? this.#restores : this.#boots
    return await share.run(record.nic.userUuid, signal, work)
  }

  /** A VM that begins afresh, from a template or by a boot, once all that it needs is there. */
  async boot(userUuid: string, signal: AbortSignal, work: () => Promise<StartReport>): Promise<StartReport> {
    return await this.#boots.run(userUuid, signal, work)
  }

  /**
   * The volume of a start by hand: beside its image, which may take long to come, and so not with the place
   * of a VM.
   */
  async check<Result>(userUuid: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    return await this.#checks.run(userUuid, signal, work)
  }
}
