import type { Network, NicSpec } from '../../src/host/network/network.ts'
import type { World } from './world.ts'

/** What peers do to the instance's address; it outlives agents. */
export interface Peers {
  count: number
  /** Their next packet is reported. */
  armed: boolean
  lastMs: number
}

/** One agent's view of the network of one instance. */
export function simNetwork(
  world: World,
  peers: Peers,
  setCallbacks: (onPeer: () => void) => void,
  nicOf: () => NicSpec | undefined,
): Network {
  const pause = async (): Promise<void> => {
    await world.sleep(world.dice.stretched(0.05, 5))
  }
  return {
    open: pause,
    attach: async () => {
      await pause()
      peers.armed = false
      return {
        kind: 'user',
        ip: '10.64.0.2',
        prefixLength: 16,
        gateway: '10.64.0.1',
        nameserver: '10.64.0.1',
        mac: '12:b0:0a:40:00:02',
        forwards: [],
      }
    },
    detach: async () => {
      await pause()
      peers.armed = false
      peers.count = 0
    },
    load: async () => {
      await pause()
      return undefined
    },
    counters: async () => {
      await pause()
      return { rxBytes: 0, rxPackets: 0, txBytes: 0, txPackets: 0 }
    },
    standBy: async () => {
      await pause()
      peers.armed = true
    },
    onPeerTraffic: (listener) => {
      setCallbacks(() => {
        const nic = nicOf()
        if (nic !== undefined) listener(nic)
      })
    },
    peerPackets: async () => {
      await pause()
      return peers.count
    },
    reach: async () => {
      await pause()
      return { host: '10.64.0.2', port: 80 }
    },
    close: pause,
  }
}
