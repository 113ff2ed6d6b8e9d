import type { HostEvent } from '../../domain/instance/host-work.ts'
import { TokenBuckets } from '../../domain/token-bucket.ts'

/** The events of one instance: so many at once, then one a second. Each costs its workflow a decision. */
const perInstance = { burst: 8, perSecond: 1 }
/** The changes of the `scale_to_zero_disable` count, for all instances of a user together. */
const changesPerUser = { burst: 32, perSecond: 2 }

/** The instance that an event is about. */
interface Teller {
  readonly instanceUuid: string
  readonly record: { readonly nic: { readonly userUuid: string } } | undefined
}

/**
 * Limits how often instances may report what they can do as often as they like. An event that may not be
 * reported now is reported later, if it still holds.
 *
 * An idle period is reported when the instance is to fall asleep, so its pace also limits the sleeps and the
 * wakes after them. Both are much work for the host and the platform: instances of one user that are woken
 * whenever they sleep would occupy a host of two processors. With the limit they stay awake for longer,
 * which delays nobody's wake.
 */
export class EventPace {
  readonly #nowMs: () => number
  readonly #words = new TokenBuckets(perInstance)
  readonly #changes = new TokenBuckets(changesPerUser)
  readonly #sleeps: TokenBuckets
  /** The idle periods that were reported. Each counts once, no matter how often it is repeated. */
  readonly #toldIdle = new WeakMap<Teller, number>()

  /**
   * `sleepsPerMinute` holds for one user's instances on this host. After a minute of rest, as many may sleep
   * at once.
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
