import type { HostEvent } from '../../domain/instance/host-work.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'

/** Each word of an instance costs its workflow a decision: so many at once, then one a second. */
const perInstance = { burst: 8, perSecond: 1 }
/** What all instances of a user may say of their `scale_to_zero_disable` count. */
const changesPerUser = { burst: 32, perSecond: 2 }

/** The instance that an event is of. */
interface Teller {
  readonly instanceUuid: string
  readonly record: { readonly nic: { readonly userUuid: string } } | undefined
}

/**
 * How often instances may tell of what they do as often as they like. What may not be told now is told later,
 * if it is still so.
 *
 * An idle period is told when the instance is to fall asleep, so its pace is that of falling asleep, and of
 * the wakes after it. Both are much work for the host and the platform. Instances of one user that are woken
 * whenever they sleep would take a host of two processors whole; so they stay awake for longer, which slows
 * nobody's wake.
 */
export class EventPace {
  readonly #nowMs: () => number
  readonly #words = new TokenBuckets(perInstance)
  readonly #changes = new TokenBuckets(changesPerUser)
  readonly #sleeps: TokenBuckets
  /** The idle periods that were told: each counts once, however often it is repeated. */
  readonly #toldIdle = new WeakMap<Teller, number>()

  /** `sleepsPerMinute`: of one user's instances on this host, and as many at once after a minute of rest. */
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
