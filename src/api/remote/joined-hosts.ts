import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { PlatformPart } from '../../domain/platform-part.ts'
import { peerOf } from '../../trust/part-identity.ts'

/** How often the hosts that may be connected are read. A removed host is cut off after this time at most. */
const lookMs = 1_000

/** The host behind a connection. */
export interface ConnectedHost {
  readonly hostId: string
  /** The hash of the public key with which it joined. */
  readonly keySha256: string
}

/**
 * Knows which host is behind a connection, and cuts connections of hosts that were removed. While the
 * database does not answer, the hosts that were known last are let in.
 */
export class JoinedHosts {
  readonly #read: () => Promise<ReadonlyMap<string, string>>
  readonly #connected = new Map<TLSSocket, ConnectedHost>()
  readonly #timer: NodeJS.Timeout
  /** Undefined until they were read for the first time. */
  #keys: ReadonlyMap<string, string> | undefined
  /** The look under way, and the one that follows it. */
  #look: Promise<void> = Promise.resolve()
  #nextLook: Promise<void> | undefined

  /** `read` returns the hash of each host's public key. */
  constructor(read: () => Promise<ReadonlyMap<string, string>>) {
    this.#read = read
    this.#timer = setInterval(() => void this.look(), lookMs)
    this.#timer.unref()
  }

  /**
   * The host at the other end. Undefined if it is none that joined. A host that just joined is looked up.
   * Throws if the hosts could never be read.
   */
  async hostOf(socket: TLSSocket): Promise<ConnectedHost | undefined> {
    const known = this.#connected.get(socket)
    if (known !== undefined) return known
    const peer = peerOf(socket)
    if (peer?.part !== PlatformPart.Agent) return undefined
    const keySha256 = peerKeySha256(socket)
    if (this.#keys?.get(peer.id) !== keySha256) await this.look()
    if (this.#keys === undefined) throw new Error('the hosts of the installation can not be read yet')
    if (keySha256 === undefined || this.#keys.get(peer.id) !== keySha256 || socket.destroyed) return undefined
    const host = { hostId: peer.id, keySha256 }
    this.#connected.set(socket, host)
    socket.once('close', () => this.#connected.delete(socket))
    return host
  }

  /**
   * Reads the hosts again and cuts the connections of those that are gone or have another key. One look is
   * under way at a time, so that no older one ends last. Those who ask meanwhile share the next.
   */
  async look(): Promise<void> {
    this.#nextLook ??= this.#look.then(async () => {
      this.#nextLook = undefined
      await (this.#look = this.#lookNow())
    })
    await this.#nextLook
  }

  async #lookNow(): Promise<void> {
    const keys = await this.#read().catch(() => undefined)
    if (keys === undefined) return
    this.#keys = keys
    for (const [socket, { hostId, keySha256 }] of this.#connected) {
      if (keys.get(hostId) !== keySha256) socket.destroy()
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** The hash under which the key of a machine is kept. `spki` is the public key in DER. */
export function keyHash(spki: Buffer): string {
  return createHash('sha256').update(spki).digest('hex')
}

function peerKeySha256(socket: TLSSocket): string | undefined {
  const key = socket.getPeerX509Certificate()?.publicKey
  return key === undefined ? undefined : keyHash(key.export({ format: 'der', type: 'spki' }))
}
