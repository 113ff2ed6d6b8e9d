/**
 * The port through which a host connects VMs. Attachments are named after the instance's address, so an
 * `attach` after a crash finds the old attachment.
 */
export interface Network {
  /** Makes the host's side ready: bridge, address, filter rules. Idempotent. */
  open(): Promise<void>
  attach(nic: NicSpec): Promise<Attachment>
  /** Removes the attachment. Idempotent; an unknown address is no error. */
  detach(nic: NicSpec): Promise<void>
  /**
   * The bytes and packets of this attachment since `attach`. Undefined if the attachment does not exist any
   * more. `rx` is what the VM received.
   */
  counters(nic: NicSpec): Promise<NicCounters | undefined>
  /**
   * Keeps the address of an instance in standby known to its peers, and reports their first packet to
   * `onPeerTraffic`, once. `attach` and `detach` end this. Does nothing if the host can not see such
   * packets.
   */
  standBy(nic: NicSpec): Promise<void>
  onPeerTraffic(listener: (nic: NicSpec) => void): void
  /**
   * The packets that other instances of the same user sent to this one, since `attach`. Undefined if the
   * host does not know the number.
   */
  peerPackets(nic: NicSpec): Promise<number | undefined>
  /** How much of what instances share on this host is in use. Undefined if the host bounds nothing. */
  load(): Promise<NetworkLoad | undefined>
  /**
   * The address at which the host itself reaches a port of the VM. Undefined if the host can not reach the
   * port.
   */
  reach(nic: NicSpec, port: number): Promise<{ readonly host: string; readonly port: number } | undefined>
  /**
   * Lets traffic from and to instances pass for so many more milliseconds, and none after that, whatever
   * becomes of this process; 0 cuts it off now. Undefined takes the bound away. `open` leaves the bound as
   * it is. A network whose traffic ends with the VM's process needs no such bound and does nothing.
   */
  guard(leftMs: number | undefined): Promise<void>
  /**
   * Lets exactly these machines of the mesh reach this TCP port of the host's own address; the addresses are
   * those that the machines have in the mesh. An empty list closes the port. Idempotent; it holds until the
   * process ends. Absent in a network that has no mesh.
   */
  openTo?(port: number, addresses: readonly string[]): Promise<void>
  /** Removes what `open` and `attach` made. Nothing is left on the host. */
  close(): Promise<void>
}

export interface NicSpec {
  readonly instanceUuid: string
  readonly userUuid: string
  readonly ip: string
  /** See `LaunchSpec.seatIp`. Absent: the address is of this host's own network. */
  readonly seat?: string
  readonly mac: string
}

/** How the VMM connects a VM to the network, and the settings that the guest gets. */
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
 * QEMU's user-mode network, used if the agent is not root. The guest can connect to nothing. `forwards` are
 * host ports on 127.0.0.1.
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
   * `flows` is the number of entries in the host's connection table, with those of the host's own
   * connections. `maxFlows` is the number for which the table has room.
   */
  readonly flows: number
  readonly maxFlows: number
  /**
   * Dropped packets of instances, by the bound that they exceeded. The counts begin again at 0 with every
   * `open`.
   */
  readonly dropped: Readonly<Record<NetworkBound, number>>
}

/**
 * The things of which an instance may use only so much: open flows, flows that it opens per second, and
 * bytes per second.
 */
export const NetworkBound = { Flows: 'flows', NewFlows: 'new-flows', Bandwidth: 'bandwidth' } as const
export type NetworkBound = (typeof NetworkBound)[keyof typeof NetworkBound]
