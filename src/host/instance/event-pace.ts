import type { HostEvent } from '../../domain/instance/host-work.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'

/**
 * The limit for the events `disabled` and `idle` of one instance. Each of them costs its workflow a
 * decision.
 */
const perInstance = { burst: 8, perSecond: 1 }
/**
 * The limit for the events `disabled` of all instances of a user together. Each tells a change of
 * `scale_to_zero_disable`.
 */
const changesPerUser = { burst: 32, perSecond: 2 }

/** The instance that an event is about. */
interface Teller {
  readonly instanceUuid: string
  readonly record: { readonly nic: { readonly userUuid: string } } | undefined
}

/**
 * Limits how often events are reported that an application can cause as often as it likes. An event that may
 * not be reported now is reported later, if it still holds.
 *
 * An idle period is reported when the instance is to fall asleep. So its limit also bounds how often
 * instances sleep, and how often they wake after that. Both are much work for the host and the platform:
 * instances of one user that are woken whenever they sleep would occupy a host of two processors. With the
 * limit they stay awake for longer, and no wake is delayed.
 */
export class EventPace {
  readonly #nowMs: () => number
  readonly #words = new TokenBuckets(perInstance)
  readonly #changes = new TokenBuckets(changesPerUser)
  readonly #sleeps: TokenBuckets
  /** The idle periods that were reported. Each counts once, no matter how often it is repeated. */
  readonly #toldIdle = new WeakMap<Teller, number>()

  /**
   * `sleepsPerMinute` is the limit for all instances of one user on this host together. After a minute
   * without a sleep, that many may fall asleep at once.
   */
  constructor(options: { readonly sleepsPerMinute: number; readonly nowMs: () => number }) {
    const { sleepsPerMinute } = options
    this.#nowMs = options.nowMs
    this.#sleeps = new TokenBuckets({ burst: sleepsPerMinute, perSecond: sleepsPerMinute / 60 })
  }

  mayTell(entry: Teller, event: HostEvent): boolean {
    const userUuid = entry.record?.nic.userUuid ?? ''
    if (event.kind === 'disabled') return this.#takeWord(entry) && this.#changes.take(userUuid, this.#nowMs())
    if (event.kind !== 'idle') return true
    if (!this.#takeWord(entry)) return false
    if (this.#toldIdle.get(entry) === event.epoch) return true
    if (!this.#sleeps.take(userUuid, this.#nowMs())) return false
    this.#toldIdle.set(entry, event.epoch)
    return true
  }

  #takeWord({ instanceUuid }: Teller): boolean {
    return this.#words.take(instanceUuid, this.#nowMs())
  }
}
