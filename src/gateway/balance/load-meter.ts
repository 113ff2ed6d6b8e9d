import type { InstanceCounts, InstanceLoad } from '../../domain/standby/lease-protocol.ts'
import type { Ask } from '../traffic.ts'

/** The counts of an instance without load, in the form in which reports are compared. */
const noLoad = '0 0 0 0'

/** Counts what one instance has in flight, and what of it has to be reported to its host. */
export class LoadMeter {
  readonly #instance: string
  readonly #nowMs: () => number
  requests = 0
  connections = 0
  /** Requests and connections that wait for this instance to be woken. `ServiceBalance` keeps the number. */
  queued = 0
  #handledMore = 0
  /** How many were finished since the last report and were already sent in `counts`. */
  #handledTold = 0
  #reported = ''
  #reportedHandled = false
  /** The counts last sent to the host between two reports; undefined if none were sent. */
  #counted: string | undefined
  /** The integral of `inFlight` over time, from `#reportMs` to `#integralMs`. */
  #inFlightMs = 0
  #integralMs: number
  #reportMs: number

  constructor(instance: string, nowMs: () => number) {
    this.#instance = instance
    this.#nowMs = nowMs
    this.#reportMs = this.#integralMs = nowMs()
  }

  get inFlight(): number {
    return this.requests + this.connections
  }

  began(kind: Ask['kind'], nowMs: number): void {
    this.#integrate(nowMs)
    if (kind === 'request') this.requests += 1
    else this.connections += 1
  }

  ended(kind: Ask['kind'], nowMs: number): void {
    this.#integrate(nowMs)
    if (kind === 'request') this.requests -= 1
    else this.connections -= 1
    this.#handledMore += 1
  }

  /** Returns the load to report; undefined if it is unchanged. `all`: the host knows none of it yet. */
  load(all: boolean): InstanceLoad | undefined {
    const { requests, connections, queued } = this
    const inFlight = this.#meanInFlight()
    const now = `${requests} ${connections} ${queued} ${inFlight}`
    const before = this.#reported || noLoad
    // The host may still have what was reported over an earlier connection.
    const nothing = now === before && this.#counted === undefined && !(all && now !== noLoad)
    const handledMore = this.#handledMore
    const handledTold = this.#handledTold
    if (nothing && handledMore + handledTold === 0 && !this.#reportedHandled) return undefined
    this.#reported = now
    this.#counted = undefined
    this.#reportedHandled = handledMore + handledTold > 0
    this.#handledMore = this.#handledTold = 0
    const told = handledTold === 0 ? {} : { handledTold }
    return { instance: this.#instance, connections, requests, queued, inFlight, handledMore, ...told }
  }

  /** Returns the counts to send between two reports; undefined if the host knows them. */
  counts(): InstanceCounts | undefined {
    const { requests, connections, queued } = this
    const now = `${requests} ${connections} ${queued}`
    const before = this.#counted ?? (this.#reported || noLoad).split(' ', 3).join(' ')
    const handledMore = this.#handledMore
    if (now === before && handledMore === 0) return undefined
    this.#counted = now
    this.#handledMore = 0
    this.#handledTold += handledMore
    return { instance: this.#instance, connections, requests, queued, handledMore }
  }

  #integrate(nowMs: number): void {
    this.#inFlightMs += this.inFlight * (nowMs - this.#integralMs)
    this.#integralMs = nowMs
  }

  /** The mean of `inFlight` since the last call, in thousandths: a line should hold no more digits. */
  #meanInFlight(): number {
    const nowMs = this.#nowMs()
    this.#integrate(nowMs)
    const mean = nowMs > this.#reportMs ? this.#inFlightMs / (nowMs - this.#reportMs) : this.inFlight
    this.#inFlightMs = 0
    this.#reportMs = nowMs
    return Math.round(mean * 1_000) / 1_000
  }
}
