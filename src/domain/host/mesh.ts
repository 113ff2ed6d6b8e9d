/** One machine of the mesh, as all others know it. */
export interface MeshMachine {
  /** The machine's own address in the mesh. For a host it is the host's address in its instances' network. */
  readonly address: string
  readonly publicKey: string
  /**
   * Where the machine gets packets of WireGuard: an IP address and a port, such as 192.0.2.7:51820 or
   * [2001:db8::7]:51820. Without it the machine has to send the first packet.
   */
  readonly endpoint?: string
  /** The networks behind the machine, and single addresses as a /32. No other machine may use them. */
  readonly networks: readonly string[]
}

/** What a host tells of itself, so that the others find it in the mesh. */
export type OwnMesh = Required<Pick<MeshMachine, 'publicKey' | 'endpoint'>>

/** The mesh as the API tells it to every host. */
export interface ToldMesh {
  /** Two meshes with the same revision are the same. */
  readonly revision: string
  readonly machines: readonly MeshMachine[]
  /** The addresses in the mesh of the machines with a gateway. They may speak to instances of all users. */
  readonly gateways: readonly string[]
  /**
   * The hosts that joined with a gateway. Others may not ask for leases any more. Absent: the API has an
   * earlier version, and there are none.
   */
  readonly gatewayHosts?: readonly string[]
  /**
   * The addresses in the mesh of the machines that joined with an API or a worker. Absent: the API has an
   * earlier version, and there are none.
   */
  readonly controlMachines?: readonly string[]
}
