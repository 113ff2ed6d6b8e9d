import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../primitives/replace-file.ts'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { freePorts } from '../../primitives/free-ports.ts'
import type { Attachment, Network, NicCounters, NicSpec } from './network.ts'

/**
 * The ports of an instance that the host can reach without root. The forwards of a VM are fixed when it
 * starts.
 */
export const forwardedGuestPorts: readonly number[] = [80, 443, 3000, 5000, 8000, 8080, 8443, 9090]

/**
 * The addresses that QEMU's user-mode network gives every VM. Each VM has a network of its own, so they are
 * always the same.
 */
const guestAddress = {
  ip: '10.0.2.15',
  prefixLength: 24,
  gateway: '10.0.2.2',
  // The address is that of the guest itself, where nobody listens. So DNS questions fail at once. QEMU's own
  // nameserver would leave them without an answer.
  nameserver: '127.0.0.1',
} as const

export interface UserNetworkOptions {
  readonly directory: string
  /** Whether the operator wants outbound access. This network can not give it and warns. */
  readonly outbound?: boolean
  /** The bandwidth that the operator wants to permit. This network can not bound it and warns. */
  readonly bandwidthMbit?: number
  readonly warn?: (message: string) => void
}

/** A file of forwards is damaged. Nobody knows any more through which ports the VM is reached. */
export class DamagedForwards extends Error {
  override readonly name = 'DamagedForwards'
}

interface Forward {
  readonly hostPort: number
  readonly guestPort: number
}

/**
 * QEMU's user-mode network, for an agent that is not root. Instances can not reach each other. The guest has
 * 10.0.2.15, whatever private address the instance has. The host reaches only `forwardedGuestPorts`, and
 * bytes and packets are not counted. Forwards are kept on disk, because a new agent must reach the VMs of
 * the agent before it.
 *
 * A guest can connect to nothing, even if outbound access is on. QEMU would make the connections as its own
 * user on the host. That user can reach the host's loopback, the ports of other instances and the networks
 * around the host, and nothing here could filter it.
 */
export class UserNetwork implements Network {
  readonly #directory: string
  readonly #options: UserNetworkOptions

  constructor(options: UserNetworkOptions) {
    this.#directory = join(options.directory, 'user-network')
    this.#options = options
  }

  async open(): Promise<void> {
    const { outbound, bandwidthMbit, warn } = this.#options
    if (outbound === true)
      warn?.('outbound access is on but this agent is not root; instances reach nothing outside')
    if (bandwidthMbit !== undefined)
      warn?.(
        `a bandwidth of ${bandwidthMbit} Mbit/s is set but this agent is not root; instances have no bound`,
      )
    await mkdir(this.#directory, { recursive: true })
  }

  async attach(nic: NicSpec): Promise<Attachment> {
    const forwards = (await this.#load(nic)) ?? (await this.#choose(nic))
    return { kind: 'user', ...guestAddress, mac: nic.mac, forwards }
  }

  async detach(nic: NicSpec): Promise<void> {
    await rm(this.#path(nic), { force: true })
  }

  async counters(nic: NicSpec): Promise<NicCounters | undefined> {
    const attached = (await this.#load(nic)) !== undefined
    return attached ? { rxBytes: 0, rxPackets: 0, txBytes: 0, txPackets: 0 } : undefined
  }

  /** Does nothing, because an instance has no peers here. */
  async standBy(): Promise<void> {
    await Promise.resolve()
  }

  onPeerTraffic(): void {
    // Nothing is ever reported, because an instance has no peers here.
  }

  async peerPackets(): Promise<undefined> {
    await Promise.resolve()
  }

  /** Returns undefined, because an instance opens no flows here. */
  async load(): Promise<undefined> {
    await Promise.resolve()
  }

  async reach(
    nic: NicSpec,
    port: number,
  ): Promise<{ readonly host: string; readonly port: number } | undefined> {
    const forward = (await this.#load(nic))?.find((each) => each.guestPort === port)
    return forward === undefined ? undefined : { host: '127.0.0.1', port: forward.hostPort }
  }

  /** Does nothing: the connections are the VMM's own, and end with it. */
  async guard(): Promise<void> {
    await Promise.resolve()
  }

  async close(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }

  async #choose(nic: NicSpec): Promise<readonly Forward[]> {
    // QEMU binds them a moment later. If another program takes one in between, the start fails, and the next
    // attempt gets other ports.
    const hostPorts = await freePorts(forwardedGuestPorts.length)
    const forwards = forwardedGuestPorts.map((guestPort, index) => ({
      guestPort,
      hostPort: hostPorts[index] ?? 0,
    }))
    await replaceFile(this.#path(nic), JSON.stringify(forwards))
    return forwards
  }

  async #load(nic: NicSpec): Promise<readonly Forward[] | undefined> {
    const file = this.#path(nic)
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    if (text === undefined) return undefined
    const forwards = parseJson(text)
    if (Array.isArray(forwards) && forwards.every(isForward)) return forwards
    throw new DamagedForwards(
      `${file} holds no list of forwarded ports: stop the instance, and delete the file`,
    )
  }

  #path(nic: NicSpec): string {
    return join(this.#directory, `${nic.instanceUuid}.json`)
  }
}

function isForward(value: unknown): value is Forward {
  return isJsonObject(value) && [value['hostPort'], value['guestPort']].every(Number.isSafeInteger)
}
