import type { InstanceAdmission } from './instance-admission.ts'

/** A connection whose client spoke while the instance slept. */
interface Sleeper {
  readonly admission: InstanceAdmission
  readonly settle: (stands: boolean) => void
}

/** The connections of one instance that were slept through and want to go on. */
export class Sleepers {
  #waiting: Sleeper[] = []

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  /** Resolves with whether the connection still stands, after the wake or after `maxWaitMs`. */
  add(admission: InstanceAdmission, maxWaitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const limit = setTimeout(() => sleeper.settle(false), maxWaitMs)
      limit.unref()
      const sleeper: Sleeper = {
        admission,
        settle: (stands) => {
          clearTimeout(limit)
          this.#waiting = this.#waiting.filter((each) => each !== sleeper)
          resolve(stands)
        },
      }
      this.#waiting.push(sleeper)
    })
  }

  /** The connection has ended. */
  drop(admission: InstanceAdmission): void {
    for (const sleeper of this.#waiting.filter((each) => each.admission === admission)) sleeper.settle(false)
  }

  /** Lets those go on whose memory the instance has now. Undefined: it has none of them. */
  wake(memoryBoot: number | undefined): void {
    for (const { admission, settle } of this.#waiting) settle(admission.memoryBoot === memoryBoot)
  }
}
