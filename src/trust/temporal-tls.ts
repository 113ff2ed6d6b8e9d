/** How a connection to a Temporal of the operator's own is secured. All texts but the name are PEM. */
export interface TemporalTls {
  /** The authority of Temporal's certificate. Absent: one of those that the machine trusts. */
  readonly authority?: string
  /** The name that Temporal's certificate has to have. Absent: the host in its address. */
  readonly serverName?: string
  /** What Temporal is shown. Absent: nothing. */
  readonly client?: { readonly certificate: string; readonly key: string }
}

/** The server of Temporal. */
export interface TemporalServer {
  /** `host:port` */
  readonly address: string
  /** Absent: the connection is not secured. */
  readonly tls?: TemporalTls
}

/** The options of both kinds of connections that Temporal's SDK makes. */
export function connectionOptions({ address, tls }: TemporalServer) {
  if (tls === undefined) return { address, tls: false }
  const { authority, serverName, client } = tls
  return {
    address,
    tls: {
      ...(serverName !== undefined && { serverNameOverride: serverName }),
      ...(authority !== undefined && { serverRootCACertificate: Buffer.from(authority) }),
      ...(client && {
        clientCertPair: { crt: Buffer.from(client.certificate), key: Buffer.from(client.key) },
      }),
    },
  }
}
