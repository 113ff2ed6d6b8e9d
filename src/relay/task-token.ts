import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The length of the key that all API processes share. */
export const tokenKeyBytes = 32
const macBytes = 32
/** The label makes the derived key differ from keys that are derived from the same key for other purposes. */
const label = 'roost relay: task tokens of hosts, version 1'

/**
 * Binds the task tokens of Temporal to hosts. A host gets each token with a keyed hash of the host's id and
 * the token in front. Only with the right hash for its own id is a token taken back. So a host can not use a
 * token that it made up, or that was given to another host. Processes with the same key take each other's
 * tokens.
 */
export class TaskTokens {
  readonly #key: Buffer

  constructor(tokenKey: Uint8Array) {
    if (tokenKey.length !== tokenKeyBytes) {
      throw new RangeError(
        `the key of task tokens has ${tokenKey.length} bytes; it must have ${tokenKeyBytes}`,
      )
    }
    this.#key = Buffer.from(hkdfSync('sha256', tokenKey, new Uint8Array(), label, macBytes))
  }

  /** Returns a token of Temporal as it is given to the host. */
  wrap(hostId: string, token: Uint8Array): Buffer {
    return Buffer.concat([this.#mac(hostId, token), token])
  }

  /** Returns the token of Temporal, or undefined if this host was never given it. */
  unwrap(hostId: string, wrapped: Uint8Array): Buffer | undefined {
    if (wrapped.length <= macBytes) return undefined
    const token = Buffer.from(wrapped.subarray(macBytes))
    return timingSafeEqual(wrapped.subarray(0, macBytes), this.#mac(hostId, token)) ? token : undefined
  }

  #mac(hostId: string, token: Uint8Array): Buffer {
    const id = Buffer.from(hostId)
    // The length of the id tells the id from the token, whatever bytes both have.
    const length = Buffer.alloc(4)
    length.writeUInt32BE(id.length)
    return createHmac('sha256', this.#key).update(length).update(id).update(token).digest()
  }
}
