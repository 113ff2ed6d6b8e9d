import { takePermit } from '../domain/token-bucket.ts'
import type { Bucket } from '../domain/token-bucket.ts'
import { GrpcCode, GrpcStatus } from './grpc-status.ts'

/**
 * The most calls of one host at once. A host has five polls, and up to 500 activities at once, each with a
 * heartbeat and an answer at the same moment.
 */
const maxCalls = 1_024
/**
 * The most calls of one host that wait for work at once. A worker has five, and an old agent may have as many
 * beside those of its successor. Temporal lets 1,200 wait at once for all hosts and the control plane.
 */
const maxWaits = 16
/** The memory for the messages of one host that are under way: eight of the largest ones. */
const maxBytes = 32 * 1024 * 1024
/**
 * How many calls a host may begin. Temporal takes 2,400 a second of all hosts and the control plane together.
 * The burst is for a host that answers all of its activities in the same second.
 */
const callRate = { perSecond: 300, burst: 1_500 }

/** What one host may take of the relay, and what it has taken. */
export class HostShare {
  #calls = 0
  #waits = 0
  #bytes = 0
  #bucket: Bucket | undefined

  get isIdle(): boolean {
    return this.#calls === 0
  }

  /** Begins a call, which `end` ends. Returns a status, and begins nothing, if there are too many. */
  begin(nowMs: number): GrpcStatus | undefined {
    if (this.#calls === maxCalls) return tooMany(`${maxCalls} calls at once`)
    const { bucket, retryAfterMs } = takePermit(callRate, this.#bucket, nowMs)
    this.#bucket = bucket
    if (retryAfterMs > 0) return tooMany(`${callRate.perSecond} calls a second`)
    this.#calls += 1
    return undefined
  }

  /** Says of a call that has begun that it waits for work. Returns a status if there are too many. */
  beginWait(): GrpcStatus | undefined {
    if (this.#waits === maxWaits) return tooMany(`${maxWaits} polls at once`)
    this.#waits += 1
    return undefined
  }

  endWait(): void {
    this.#waits -= 1
  }

  /** Takes memory for a message until the end of its call. Returns false if there is none left. */
  reserve(bytes: number): boolean {
    if (this.#bytes + bytes > maxBytes) return false
    this.#bytes += bytes
    return true
  }

  /** Ends a call that has reserved so many bytes. */
  end(reservedBytes: number): void {
    this.#calls -= 1
    this.#bytes -= reservedBytes
  }
}

function tooMany(what: string): GrpcStatus {
  return new GrpcStatus(GrpcCode.ResourceExhausted, `A host may have ${what} and no more; try again later.`)
}
