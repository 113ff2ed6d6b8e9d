import type { HostMessage, OpenLease, OpenRefusal } from '../../domain/standby/lease-protocol.ts'
import type { GatewayLine, HostLeases } from './host-leases.ts'

/** What a hold needs of the leases of its host. */
export type LeasesForHolds = Pick<HostLeases, 'connect' | 'leave' | 'hear' | 'noteReported'>

export interface HoldRequest {
  readonly instance: string
  /** How the name begins under which the hold has its lease. */
  readonly prefix: string
  /** The ports of which `TakenHold.reach` tells the places. */
  readonly ports?: readonly number[]
  readonly signal: AbortSignal
}

export interface TakenHold {
  readonly hold: InstanceHold
  readonly boot: number
  readonly reach: OpenLease['reach']
  /** Whether the hold had to wait for the instance to come up. Its application may not listen yet. */
  readonly hasWaited: boolean
}

/** Thrown where an instance does not run and is not woken. `message` is for the user. */
export class HoldRefused extends Error {
  override readonly name = 'HoldRefused'
  readonly reason: OpenRefusal['reason']
  constructor(reason: OpenRefusal['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * What holds an instance awake while the host itself needs it: for a program of a user that runs in it, or
 * for a check. To the instance's lease it is a gateway with one connection: it wakes a sleeper, waits for a
 * start, and keeps standby away until it is given back. It does not keep a stop away.
 */
export class InstanceHold implements GatewayLine {
  static #made = 0
  readonly gatewayId: string
  readonly #leases: LeasesForHolds
  readonly #request: HoldRequest
  readonly #answer = Promise.withResolvers<Omit<TakenHold, 'hold'>>()
  readonly #ended = new AbortController()
  #epoch = 0
  #boot: number | undefined
  /** The newest boot whose end was told. The end may be told before the answer to `open` is ready. */
  #endedThrough = 0
  #over = false

  private constructor(leases: LeasesForHolds, request: HoldRequest) {
    InstanceHold.#made += 1
    this.gatewayId = `${request.prefix}${String(process.pid)}-${String(InstanceHold.#made)}`
    this.#leases = leases
    this.#request = request
  }

  /**
   * Resolves once the instance runs. Throws `HoldRefused` if it does not run and is not woken, and what
   * `signal` aborts with.
   */
  static async take(leases: LeasesForHolds, request: HoldRequest): Promise<TakenHold> {
    const { signal } = request
    const hold = new InstanceHold(leases, request)
    const abort = () => hold.#answer.reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
    try {
      signal.throwIfAborted()
      leases.connect(hold, [])
      hold.#open()
      return { hold, ...(await hold.#answer.promise) }
    } catch (error) {
      hold.release()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  /** Aborts when the boot of this hold ends. Its address may belong to another instance soon. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  release(): void {
    if (this.#over) return
    this.#over = true
    const { gatewayId: gateway } = this
    const returned = { kind: 'returned', gateway, epoch: this.#epoch, quietMs: 0 } as const
    this.#leases.hear(this, this.#request.instance, returned)
    this.#leases.leave(this)
  }

  send(message: HostMessage | Promise<HostMessage>): void {
    if (message instanceof Promise)
      message.then(
        (ready) => this.#hear(ready),
        (error: unknown) => this.#answer.reject(error as Error),
      )
    else this.#hear(message)
  }

  end(): void {
    this.release()
  }

  #open(): void {
    this.#epoch += 1
    const { instance, ports = [] } = this.#request
    const { gatewayId: gateway } = this
    this.#leases.hear(this, instance, { kind: 'open', gateway, epoch: this.#epoch, ports })
  }

  #hear(message: HostMessage): void {
    if (message.kind === 'report') this.#leases.noteReported(this, message.number)
    if (this.#over) return
    if (message.kind === 'opened') {
      const { boot, reach, woken } = message
      this.#boot = boot
      this.#answer.resolve({ boot, reach, hasWaited: woken !== undefined })
    }
    if (message.kind === 'refused') this.#answer.reject(new HoldRefused(message.reason, message.message))
    if (message.kind === 'gone') this.#endedThrough = Math.max(this.#endedThrough, message.boot)
    if (this.#endedThrough >= (this.#boot ?? Number.POSITIVE_INFINITY)) this.#ended.abort()
    // What the host does itself does not hold up a drain. If it is called off, the lease is needed again.
    if (message.kind === 'drain')
      this.#leases.hear(this, this.#request.instance, {
        kind: 'drained',
        gateway: this.gatewayId,
        boot: message.boot,
      })
    if (message.kind === 'undrain') this.#open()
  }
}
