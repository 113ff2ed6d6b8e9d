import type { World } from './world.ts'

/** Stands for Node's handle of a timer. */
class VirtualTimer {
  #cancel: (() => void) | undefined

  constructor(world: World, delayMs: number, happen: () => void) {
    const due = world.after(Math.max(1, delayMs), happen)
    this.#cancel = () => {
      due.cancel()
    }
  }

  cancel(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** Makes the product's own timers run in virtual time until the returned function is called. */
export function takeTimers(world: World): () => void {
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis
  const set = (happen: (...args: unknown[]) => void, delayMs = 0, ...args: unknown[]): VirtualTimer =>
    new VirtualTimer(world, delayMs, () => {
      happen(...args)
    })
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.cancel()
    else realClear(timer as NodeJS.Timeout | undefined)
  }
  globalThis.setTimeout = set as unknown as typeof setTimeout
  globalThis.clearTimeout = clear
  return () => {
    globalThis.setTimeout = realSet
    globalThis.clearTimeout = realClear
  }
}
