/**
 * What all gateways of an installation have in common. The API tells it to those on machines that joined, so
 * that nobody has to set it there.
 */
export interface SharedGatewaySettings {
  readonly metroDomain: string
  readonly portOffset: number
  /** Whether users push through the registry's owner, which gateways publish. */
  readonly registryBounded: boolean
}

/** The path of these settings at the API. */
export const sharedSettingsPath = '/internal/gateway/settings'

/** Where a gateway asks for its next certificate. */
export const gatewayRenewalPath = '/internal/gateway/certificate'

/**
 * The port at which gateways that joined answer APIs and workers, with TLS. It is the same on all machines,
 * so that they are found without a setting.
 */
export const joinedGatewayPort = 7_073

/**
 * What a gateway that joined says with ALPN to the port for hosts: what follows on the connection is the
 * public's, for the API or for the registry. It has no rights of the gateway.
 */
export const PublicProtocol = { Api: 'roost-public-api', Registry: 'roost-public-registry' } as const
export type PublicProtocol = (typeof PublicProtocol)[keyof typeof PublicProtocol]
