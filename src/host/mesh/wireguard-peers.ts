import { reachedNetworks } from './mesh-machine.ts'
import type { MeshMachine } from '../../domain/host/mesh.ts'

/**
 * The interval of packets that keep the way open where a machine is behind a translation of addresses. 25 s
 * is what WireGuard recommends; most translations forget a silent way after 30 s or later.
 */
const keepaliveS = 25
/**
 * WireGuard makes new keys for a pair of machines every 2 minutes and uses no key for longer than 3. A peer
 * without a handshake for this time is not connected.
 */
const sessionMs = 180_000

/** What `wg` says about an interface. */
export interface WireguardState {
  readonly publicKey: string
  readonly listenPort: number
  readonly peers: readonly WireguardPeer[]
}

interface WireguardPeer {
  readonly publicKey: string
  readonly hasPresharedKey: boolean
  readonly endpoint: string
  readonly allowedIps: readonly string[]
  readonly handshakeAtMs: number
  readonly keepalive: string
}

/** One change of a peer: the arguments of `wg set`, and what it does in words. */
export interface PeerChange {
  readonly args: readonly string[]
  readonly what: string
}

/**
 * Reads what `wg show <interface> dump` prints. The first field is the private key. It is dropped at once, so
 * that nothing can log it.
 */
export function parseDump(dump: string): WireguardState {
  const [first = [], ...rest] = dump
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  const [, publicKey = '', listenPort = ''] = first
  return { publicKey, listenPort: Number(listenPort), peers: rest.map(readPeer) }
}

function readPeer(fields: readonly string[]): WireguardPeer {
  const [publicKey = '', presharedKey, endpoint = '', allowedIps = '', handshakeS, , , keepalive = ''] =
    fields
  return {
    publicKey,
    hasPresharedKey: presharedKey !== '(none)',
    endpoint,
    allowedIps: allowedIps === '(none)' ? [] : allowedIps.split(',').sort(),
    handshakeAtMs: Number(handshakeS) * 1_000,
    keepalive,
  }
}

/**
 * The changes that make an interface's peers these machines. Removals come first, so that a network can go
 * from one machine to another. A peer that is as it should be is not touched, because every change of a peer
 * may interrupt its connections.
 *
 * A machine behind a translation of addresses sends from another endpoint than its own, and WireGuard follows
 * it. So an endpoint is set only if another one than before is wanted (`told` has those of before, by public
 * key), or if there is no connection.
 */
export function peerChanges(
  peers: readonly WireguardPeer[],
  wanted: readonly MeshMachine[],
  known: { readonly told: ReadonlyMap<string, string>; readonly nowMs: number },
): readonly PeerChange[] {
  const keys = new Set(wanted.map(({ publicKey }) => publicKey))
  const gone = peers.filter((peer) => !keys.has(peer.publicKey) || peer.hasPresharedKey)
  const kept = new Map(peers.filter((peer) => !gone.includes(peer)).map((peer) => [peer.publicKey, peer]))
  const isTold = ({ publicKey, endpoint }: MeshMachine, peer: WireguardPeer) =>
    endpoint === undefined ||
    endpoint === peer.endpoint ||
    (known.told.get(publicKey) === endpoint && known.nowMs - peer.handshakeAtMs < sessionMs)
  const isRight = (machine: MeshMachine): boolean => {
    const peer = kept.get(machine.publicKey)
    return (
      peer !== undefined &&
      peer.keepalive === String(keepaliveS) &&
      peer.allowedIps.join() === reachedNetworks(machine).join() &&
      isTold(machine, peer)
    )
  }
  return [
    ...gone.map(({ publicKey }) => ({
      args: ['peer', publicKey, 'remove'],
      what: `removed the peer ${publicKey}`,
    })),
    ...wanted.filter((machine) => !isRight(machine)).map(setPeer),
  ]
}

function setPeer(machine: MeshMachine): PeerChange {
  const { address, publicKey, endpoint } = machine
  const args = [
    'peer',
    publicKey,
    ...(endpoint === undefined ? [] : ['endpoint', endpoint]),
    'persistent-keepalive',
    String(keepaliveS),
    'allowed-ips',
    reachedNetworks(machine).join(),
  ]
  return { args, what: `set the peer ${publicKey} of ${address}` }
}
