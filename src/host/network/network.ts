/**
 * The port through which a host connects VMs. Attachments are named after the instance's address, so `attach`
 * after a crash finds the one that is there.
 */
export interface Network {
  /** Makes the host's side ready: bridge, address, filter rules. Idempotent. */
  open(): Promise<void>
  attach(nic: NicSpec): Promise<Attachment>
  /** Idempotent; unknown addresses are fine. */
  detach(nic: NicSpec): Promise<void>
  /**
   * Bytes and packets of this attachment since `attach`; undefined when it is gone. `rx` is towards the VM.
   */
  counters(nic: NicSpec): Promise<NicCounters | undefined>
  /**
   * Keeps the address of an instance in standby known to its peers and reports their first packet to
   * `onPeerTraffic`, once. `attach` and `detach` end that. Does nothing where the host can not see such
   * packets.
   */
  standBy(nic: NicSpec): Promise<void>
  onPeerTraffic(listener: (nic: NicSpec) => void): void
  /**
   * Packets from other instances of the same user to this one, since `attach`; undefined where the host can
   * not tell.
   */
  peerPackets(nic: NicSpec): Promise<number | undefined>
  /** How much of what instances share on this host is in use; undefined where the host bounds nothing. */
  load(): Promise<NetworkLoad | undefined>
  /** Where the host itself reaches a port of the VM; undefined where it can not. */
  reach(nic: NicSpec, port: number): Promise<{ readonly host: string; readonly port: number } | undefined>
  /** Removes what `open` made. Leaves nothing on the host. */
  close(): Promise<void>
}

export interface NicSpec {
  readonly instanceUuid: string
  readonly userUuid: string
  readonly ip: string
  readonly mac: string
}

/** How the VMM gets at the network, and what the guest is told. */
export type Attachment = TapAttachment | UserModeAttachment

interface GuestSettings {
  readonly ip: string
  readonly prefixLength: number
  readonly gateway: string
  readonly nameserver: string
  readonly mac: string
}

/** A TAP device that the VM process of `ownerUid` may open. */
export interface TapAttachment extends GuestSettings {
  readonly kind: 'tap'
  readonly interfaceName: string
  readonly ownerUid: number
}

/**
 * QEMU's user-mode network, where the agent is not root: the guest connects to nothing. `forwards` are host
 * ports on 127.0.0.1.
 */
export interface UserModeAttachment extends GuestSettings {
  readonly kind: 'user'
  readonly forwards: readonly { readonly hostPort: number; readonly guestPort: number }[]
}

export interface NicCounters {
  readonly rxBytes: number
  readonly rxPackets: number
  readonly txBytes: number
  readonly txPackets: number
}

export interface NetworkLoad {
  /**
   * Entries of the host's connection table, those of the host's own connections included, and how many it has
   * room for.
   */
  readonly flows: number
  readonly maxFlows: number
  /**
   * Packets of instances that were dropped, by the bound that they went over. They begin again at 0 with
   * every `open`.
   */
  readonly dropped: Readonly<Record<NetworkBound, number>>
}

/**
 * What of an instance is bounded: flows that are open, flows that it opens per second, and bytes per second.
 */
export const NetworkBound = { Flows: 'flows', NewFlows: 'new-flows', Bandwidth: 'bandwidth' } as const
export type NetworkBound = (typeof NetworkBound)[keyof typeof NetworkBound]
