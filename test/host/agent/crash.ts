/**
 * When the agent dies relative to a call: before the call, while the call is under way, or after it, when
 * nobody is left to see the answer.
 */
export const CrashMoment = { Before: 'before', During: 'during', After: 'after' } as const
export type CrashMoment = (typeof CrashMoment)[keyof typeof CrashMoment]

type AnyFunction = (...args: unknown[]) => unknown

/** Calls that only compute. No process dies during such a call. */
const instant = new Set([
  'directory',
  'consoleDirectory',
  'sendFromPeer',
  'cpuTimeMs',
  'memory',
  'checkMemory',
])
/** Calls that register a listener. The port tells it events as long as the agent lives. */
const listening = new Set(['onExit', 'onListening', 'onDisabled', 'onStalled', 'onPeerTraffic'])

/** Calls that go on although the agent dies during them. They are over before the next agent begins. */
const outlasting = /^(store\.|transfers\.fetchFile|vmm\.(suspend|dropSnapshot))/

/**
 * The death of an agent at its nth call of a port. From then on none of its calls reaches a port, and no
 * answer returns to it. It is the `kill -9` for an object in a test.
 */
export class Crash {
  /** The names of the calls so far. */
  readonly calls: string[] = []
  readonly happened: Promise<void>
  readonly #at: number
  readonly #moment: CrashMoment
  readonly #writes: Promise<unknown>[] = []
  #dead = false
  #tell: () => void = () => undefined

  constructor(at = Number.POSITIVE_INFINITY, moment: CrashMoment = CrashMoment.Before) {
    this.#at = at
    this.#moment = moment
    this.happened = new Promise((resolve) => {
      this.#tell = resolve
    })
  }

  get dead(): boolean {
    return this.#dead
  }

  /**
   * Waits for writes under way. A real process that died writes nothing after the next process has begun.
   */
  async written(): Promise<void> {
    await Promise.allSettled(this.#writes)
  }

  now(): void {
    this.#dead = true
    this.#tell()
  }

  wrap<T extends object>(name: string, port: T): T {
    return new Proxy(port, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target)
        if (typeof member !== 'function') return member
        const call = (...args: unknown[]): unknown => (member as AnyFunction).apply(target, args)
        const method = String(key)
        if (listening.has(method)) return (listener: AnyFunction) => call(this.#whileAlive(listener))
        return instant.has(method)
          ? call
          : async (...args: unknown[]) => await this.#call(`${name}.${method}`, () => call(...args))
      },
    })
  }

  #whileAlive(listener: AnyFunction): AnyFunction {
    return (...args) => (this.#dead ? undefined : listener(...args))
  }

  async #call(name: string, call: () => unknown): Promise<unknown> {
    if (this.#dead) return await never()
    this.calls.push(name)
    const dies = this.calls.length === this.#at
    if (dies && this.#moment !== CrashMoment.After) this.now()
    if (dies && this.#moment === CrashMoment.Before) return await never()
    const made = Promise.resolve(call())
    if (outlasting.test(name)) this.#writes.push(made)
    const result = await made.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    if (dies) this.now()
    if (this.#dead) return await never()
    if ('error' in result) throw result.error
    return result.value
  }
}

async function never(): Promise<never> {
  return await new Promise(() => undefined)
}
