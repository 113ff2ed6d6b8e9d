import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The length of the key that all API processes share. */
export const tokenKeyBytes = 32
const macBytes = 32
/** The label makes the derived key differ from keys that are derived from the same key for other purposes. */
const label = 'roost relay: task tokens of hosts, version 2'

/**
 * The host that a task is given to. The id may be that of an earlier host that was removed; the key is not.
 */
export interface TaskOwner {
  readonly hostId: string
  /** The hash of the public key with which the host joined. */
  readonly keySha256: string
}

/**
 * Binds the task tokens of Temporal to hosts. A host gets each token with a keyed hash of the host's id, the
 * host's key and the token in front. Only with the right hash for its own id and key is a token taken back.
 * So a host can not use a token that it made up, or that was given to another host, even to one that had its
 * id before it. Processes with the same key take each other's tokens.
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
  wrap(owner: TaskOwner, token: Uint8Array): Buffer {
    return Buffer.concat([this.#mac(owner, token), token])
  }

  /** Returns the token of Temporal, or undefined if this host was never given it. */
  unwrap(owner: TaskOwner, wrapped: Uint8Array): Buffer | undefined {
    if (wrapped.length <= macBytes) return undefined
    const token = Buffer.from(wrapped.subarray(macBytes))
    return timingSafeEqual(wrapped.subarray(0, macBytes), this.#mac(owner, token)) ? token : undefined
  }

  #mac({ hostId, keySha256 }: TaskOwner, token: Uint8Array): Buffer {
    const mac = createHmac('sha256', this.#key)
    // The lengths tell the parts from each other, whatever bytes they have.
    for (const part of [Buffer.from(hostId), Buffer.from(keySha256)]) {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(part.length)
      mac.update(length).update(part)
    }
    return mac.update(token).digest()
  }
}
