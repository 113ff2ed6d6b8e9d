import { SerialQueue } from '../agent/serial-queue.ts'
import { directoryHash, meshInterfaceName } from '../network/address-plan.ts'
import { Commands } from '../network/commands.ts'
import { MeshError } from './mesh-error.ts'
import { MeshKey } from './mesh-key.ts'
import { checkMachines, reachedNetworks } from './mesh-machine.ts'
import type { MeshMachine } from '../../domain/host/mesh.ts'
import { catchMetric, catchRouteChanges, tunnelRouteChanges } from './mesh-routes.ts'
import type { RouteChanges } from './mesh-routes.ts'
import { TunnelDevice } from './tunnel-device.ts'
import type { MachineFacts } from './tunnel-device.ts'
import { peerChanges } from './wireguard-peers.ts'
import type { PeerChange, WireguardState } from './wireguard-peers.ts'

/** The size of a packet in the tunnel where the machines' own network carries 1500 bytes, by IPv4 or IPv6. */
const defaultMtu = 1_420
/**
 * The most characters of the arguments of one `wg set` with several peers: a line of arguments for all of
 * them could be too long. The kernel allows 2 MiB on most machines.
 */
const maxCharsPerCommand = 100_000

export interface MeshOptions {
  /** The agent's directory. The interface is named after it, and the private key is in it. */
  readonly directory: string
  /** This machine's own address in the mesh. */
  readonly address: string
  /** The UDP port at which this machine gets the packets of the others. */
  readonly listenPort: number
  readonly mtu?: number
  /** Runs the tools; tests give one for a network namespace. */
  readonly commands?: Commands
  readonly machine?: MachineFacts
  readonly nowMs?: () => number
}

/**
 * This machine's place in the mesh, the encrypted network between the machines of an installation. It keeps
 * one interface of WireGuard as it should be: the key, the port, a peer for every other machine, the address
 * and the routes. A packet from a machine counts only if its source is in a network of that machine.
 *
 * The interface stays if the agent ends without `close`. The next agent finds it and changes only what
 * differs, so that open connections go on. Calls wait for each other.
 */
export class Mesh {
  readonly #options: MeshOptions
  readonly #commands: Commands
  readonly #device: TunnelDevice
  readonly #key: MeshKey
  readonly #metric: number
  readonly #turns = new SerialQueue()
  /** The other machines by the last `apply`. Undefined before the first one and after `close`. */
  #others: readonly MeshMachine[] | undefined
  /** The endpoints that the peers were given, by public key. */
  #told: ReadonlyMap<string, string> = new Map()

  constructor(options: MeshOptions) {
    this.#options = options
    this.#commands = options.commands ?? new Commands()
    this.#device = new TunnelDevice(
      meshInterfaceName(options.directory),
      this.#commands,
      ...(options.machine === undefined ? [] : [options.machine]),
    )
    this.#key = new MeshKey(options.directory)
    this.#metric = catchMetric(directoryHash(options.directory))
  }

  /** The public key by which the others know this machine. It makes the private key at the first call. */
  async publicKey(): Promise<string> {
    return await this.#turns.run(async () => await this.#key.publicKey())
  }

  /**
   * Makes the mesh consist of these machines. The machine with our own address is left out, so all machines
   * may be given the same list. Who is not in the list is cut off at once. Returns what had to be changed,
   * in words. Throws `MeshError` if the list is wrong, and changes nothing then.
   */
  async apply(machines: readonly MeshMachine[]): Promise<readonly string[]> {
    checkMachines(machines)
    const others = machines.filter(({ address }) => address !== this.#options.address)
    return await this.#turns.run(async () => {
      this.#others = others
      return await this.#reconcile(others)
    })
  }

  /**
   * Repairs what somebody else has changed or ended. Returns what that was, in words. Does nothing before the
   * first `apply`, because the mesh's machines are not known then.
   */
  async check(): Promise<readonly string[]> {
    return await this.#turns.run(async () =>
      this.#others === undefined ? [] : await this.#reconcile(this.#others),
    )
  }

  /**
   * Makes another private key and uses it. Returns the public key, which the others have to be told: until
   * then they do not hear this machine. Open connections wait for that and go on.
   */
  async rekey(): Promise<string> {
    return await this.#turns.run(async () => {
      const publicKey = await this.#key.renew()
      if ((await this.#device.state()) !== undefined) await this.#device.set(['private-key', this.#key.path])
      return publicKey
    })
  }

  /** Removes the interface and the routes. The key stays. Idempotent. */
  async close(): Promise<void> {
    await this.#turns.run(async () => {
      this.#others = undefined
      this.#told = new Map()
      await this.#device.remove()
      await this.#reconcileCatches([])
    })
  }

  async #reconcile(others: readonly MeshMachine[]): Promise<readonly string[]> {
    const { address, mtu = defaultMtu } = this.#options
    this.#device.requireMachine()
    const publicKey = await this.#key.publicKey()
    // The routes that catch packets come first: none may leave unencrypted while there is no interface.
    const caught = await this.#reconcileCatches(others)
    const isMissing = (await this.#device.state()) === undefined
    if (isMissing) await this.#device.make()
    const isLinkChanged = await this.#device.bringUp({ address, mtu })
    const state = await this.#device.state()
    return [
      ...caught,
      ...(isMissing ? ['made the interface'] : []),
      ...(isLinkChanged ? ['set the address of the interface'] : []),
      ...(await this.#reconcilePort(state)),
      ...(await this.#reconcileKey(publicKey, state)),
      ...(await this.#reconcilePeers(others, state)),
      ...(await this.#reconcileTunnelRoutes(others)),
    ]
  }

  /** The interface is up by now. Before, `wireguard-go` would not say that another program has the port. */
  async #reconcilePort(state: WireguardState | undefined): Promise<readonly string[]> {
    const { listenPort } = this.#options
    if (state?.listenPort === listenPort) return []
    try {
      await this.#device.set(['listen-port', String(listenPort)])
    } catch (cause) {
      throw new MeshError(
        `this machine can not get packets of the mesh at the UDP port ${listenPort}: end the program that has the port`,
        { cause },
      )
    }
    return ['set the port']
  }

  async #reconcileKey(publicKey: string, state: WireguardState | undefined): Promise<readonly string[]> {
    if (state?.publicKey === publicKey) return []
    await this.#device.set(['private-key', this.#key.path])
    return ['set the private key']
  }

  async #reconcilePeers(
    others: readonly MeshMachine[],
    state: WireguardState | undefined,
  ): Promise<readonly string[]> {
    const nowMs = (this.#options.nowMs ?? Date.now)()
    const changes = peerChanges(state?.peers ?? [], others, { told: this.#told, nowMs })
    for (const args of commandsFor(changes)) await this.#device.set(args)
    this.#told = new Map(others.map(({ publicKey, endpoint }) => [publicKey, endpoint ?? '']))
    return changes.map(({ what }) => what)
  }

  async #reconcileCatches(others: readonly MeshMachine[]): Promise<readonly string[]> {
    const found = await this.#commands.run(['ip', '-j', '-4', 'route', 'show', 'type', 'unreachable'])
    return await this.#changeRoutes(catchRouteChanges(networksOf(others), this.#metric, found))
  }

  async #reconcileTunnelRoutes(others: readonly MeshMachine[]): Promise<readonly string[]> {
    const interfaceName = this.#device.name
    const found = await this.#commands.run(['ip', '-j', '-4', 'route', 'show', 'dev', interfaceName])
    const to = { interfaceName, source: this.#options.address }
    return await this.#changeRoutes(tunnelRouteChanges(networksOf(others), to, found))
  }

  async #changeRoutes({ commands, what }: RouteChanges): Promise<readonly string[]> {
    if (commands.length > 0) await this.#commands.run(['ip', '-batch', '-'], `${commands.join('\n')}\n`)
    return what
  }
}

/** Puts as many changes into one command as it may have, in their order. */
function commandsFor(changes: readonly PeerChange[]): readonly (readonly string[])[] {
  const commands: string[][] = []
  let chars = Infinity
  for (const { args } of changes) {
    const more = args.join(' ').length + 1
    if (chars + more > maxCharsPerCommand) {
      commands.push([])
      chars = 0
    }
    commands.at(-1)?.push(...args)
    chars += more
  }
  return commands
}

function networksOf(machines: readonly MeshMachine[]): readonly string[] {
  return machines.flatMap(reachedNetworks)
}
