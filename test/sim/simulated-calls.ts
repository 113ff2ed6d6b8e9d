import type { LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'

/** Calls that wait for their answer. */
export class SimulatedCalls<Asked> {
  #waiting: { readonly asked: Asked; readonly resolve: (events: readonly LifecycleEvent[]) => void }[] = []

  /** `tell` comes after the call began to wait, so it may answer it. */
  wait(asked: Asked, tell: () => void): Promise<readonly LifecycleEvent[]> {
    return new Promise((resolve) => {
      this.#waiting.push({ asked, resolve })
      tell()
    })
  }

  answer(isMeant: (asked: Asked) => boolean, eventsOf: (asked: Asked) => readonly LifecycleEvent[]): void {
    const meant = this.#waiting.filter(({ asked }) => isMeant(asked))
    this.#waiting = this.#waiting.filter(({ asked }) => !isMeant(asked))
    for (const { asked, resolve } of meant) resolve(eventsOf(asked))
  }

  /** Nobody will answer them. */
  forget(): void {
    this.#waiting = []
  }
}
