import { createHash } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { JoinedMachine } from '../../db/host/joining.ts'
import { isBesideId } from '../../domain/part-name.ts'
import { isCertified } from '../../domain/host/role.ts'
import type { PartName } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import { latePeerOf, peerOf } from '../../trust/part-identity.ts'

/** How often the hosts that may be connected are read. A removed host is cut off after this time at most. */
const lookMs = 1_000

type Machines = ReadonlyMap<string, JoinedMachine>

/** The part behind a connection. */
export interface ConnectedPart extends PartName {
  /** The hash of its public key, which its host told when it joined. */
  readonly keySha256: string
}

/**
 * Knows which part of which host is behind a connection, and cuts connections of hosts that were removed.
 * While the database does not answer, the hosts that were known last are let in.
 */
export class JoinedHosts {
  readonly #read: () => Promise<Machines>
  readonly #connected = new Map<TLSSocket, ConnectedPart>()
  readonly #timer: NodeJS.Timeout
  /** Undefined until they were read for the first time. */
  #machines: Machines | undefined
  /** The look under way, and the one that follows it. */
  #look: Promise<void> = Promise.resolve()
  #nextLook: Promise<void> | undefined

  constructor(read: () => Promise<Machines>) {
    this.#read = read
    this.#timer = setInterval(() => void this.look(), lookMs)
    this.#timer.unref()
  }

  /**
   * The part at the other end. Undefined if its host has not joined, or has no role with such a part. A host
   * that just joined is looked up. Throws if the hosts could never be read. An API issues its certificates
   * itself, because it has the authority, so it is no host's.
   */
  async partOf(socket: TLSSocket): Promise<ConnectedPart | undefined> {
    const known = this.#connected.get(socket)
    if (known !== undefined) return known
    const peer = peerOf(socket)
    if (peer?.part === PlatformPart.Api && isBesideId(peer.id)) return withKey(peer, socket)
    const connected = await this.#admitted(peer, socket)
    if (connected === undefined || socket.destroyed) return undefined
    this.#connected.set(socket, connected)
    socket.once('close', () => this.#connected.delete(socket))
    return connected
  }

  /**
   * The part at the other end if nothing but the time of its certificate is against it. It may get the next
   * one, so that a machine that was switched off for long comes back.
   */
  async latePartOf(socket: TLSSocket, authority: string): Promise<ConnectedPart | undefined> {
    return await this.#admitted(latePeerOf(socket, authority), socket)
  }

  async #admitted(peer: PartName | undefined, socket: TLSSocket): Promise<ConnectedPart | undefined> {
    const connected = peer && withKey(peer, socket)
    if (connected === undefined) return undefined
    if (!this.#admits(connected)) await this.look()
    if (this.#machines === undefined) throw new Error('the hosts of the installation can not be read yet')
    return this.#admits(connected) ? connected : undefined
  }

  #admits({ part, id, keySha256 }: ConnectedPart): boolean {
    const machine = this.#machines?.get(id)
    return machine !== undefined && keyOf(machine, part) === keySha256
  }

  /**
   * Reads the hosts again and cuts the connections of those that are gone, or have another key or role. One
   * look is under way at a time, so that no older one ends last. Those who ask meanwhile share the next.
   */
  async look(): Promise<void> {
    this.#nextLook ??= this.#look.then(async () => {
      this.#nextLook = undefined
      await (this.#look = this.#lookNow())
    })
    await this.#nextLook
  }

  async #lookNow(): Promise<void> {
    const machines = await this.#read().catch(() => undefined)
    if (machines === undefined) return
    this.#machines = machines
    for (const [socket, part] of this.#connected) {
      if (!this.#admits(part)) socket.destroy()
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** The key with which a part of this machine is known. Undefined if the machine does not have such a part. */
function keyOf({ keySha256, roles, roleKeys }: JoinedMachine, part: PlatformPart): string | undefined {
  if (part === PlatformPart.Agent) return keySha256
  const role = roles.filter(isCertified).find((one) => one === part)
  return role === undefined ? undefined : roleKeys[role]
}

/** The hash under which the key of a part is kept. `spki` is the public key in DER. */
export function keyHash(spki: Buffer): string {
  return createHash('sha256').update(spki).digest('hex')
}

function withKey(peer: PartName, socket: TLSSocket): ConnectedPart | undefined {
  const keySha256 = peerKeySha256(socket)
  return keySha256 === undefined ? undefined : { ...peer, keySha256 }
}

function peerKeySha256(socket: TLSSocket): string | undefined {
  const key = socket.getPeerX509Certificate()?.publicKey
  return key === undefined ? undefined : keyHash(key.export({ format: 'der', type: 'spki' }))
}
