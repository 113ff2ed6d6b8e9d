import { availableParallelism } from 'node:os'
import type { AgentObserver } from '../agent/agent-ports.ts'
import { FairSemaphore } from '../../primitives/fair-semaphore.ts'

/** After this time a start does not count any more. It is several times what a healthy start takes. */
const countsForMs = 10_000
/**
 * How many checks run at the same time, for all users and for one user. All users together have as many as
 * `file-system-check.ts` lets run; one user has three quarters of them.
 */
const checksAtOnce = 8
const checksPerUser = 6

/**
 * Shares the starts of a host between its users when many instances come up at once. One user has at most a
 * part of the places, so some are free for the others at any time: a wake does not wait for a thousand
 * starts that another user asked for before it.
 */
export class StartShares {
  /** For wakes whose memory goes on. Such a wake has its place from its beginning to its end. */
  readonly restores: FairSemaphore
  /**
   * For VMs that begin afresh, from a template or by a boot. A wake has its place also while its volume is
   * checked. Any other start takes a place only when its image, address and volume are ready.
   */
  readonly boots: FairSemaphore
  /**
   * For the checks of volumes, except those of wakes. Such a check goes on beside the image's pull, which
   * may take long, and so does not take the place of a VM.
   */
  readonly checks: FairSemaphore

  constructor(observer: Pick<AgentObserver, 'waited'>, cores = availableParallelism()) {
    const share = (perUser: number, size: number): FairSemaphore =>
      new FairSemaphore({ size, perUser, countsForMs }, (waitedMs) => {
        observer.waited(waitedMs)
      })
    // A restore takes some 0.1 s. Part of that is work of the disk and the keeper, so more restores than
    // cores may run.
    this.restores = share(3 * cores, 4 * cores)
    // An emulated boot uses a core all the time, so the VMM lets a user boot as many VMs as there are cores.
    // One more start per user is prepared meanwhile.
    this.boots = share(cores + 1, cores + 1 + Math.ceil(cores / 2))
    this.checks = share(checksPerUser, checksAtOnce)
  }
}
