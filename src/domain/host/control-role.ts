import { joinedGatewayPort } from './gateway-role.ts'
import { HostRole } from './role.ts'

/** Where a worker on a machine that joined asks for its next certificate. */
export const workerRenewalPath = '/internal/worker/certificate'

/** Where an API tells APIs and workers on other machines what the gateways beside it have counted. */
export const gatewayCountsPath = '/internal/gateways/services'

/** Where an API tells other APIs which parts are beside it, and their metrics. */
export const partsBesidePath = '/internal/parts-beside'
export const partsBesideMetricsPath = '/internal/parts-beside/metrics'

/** The port at which a worker on a machine that joined answers APIs. It is the same on all machines. */
export const joinedWorkerPort = 7_072

/**
 * The port at which an API answers machines that joined: the same on all machines, except that the first one
 * may have another.
 */
export const joinedApiPort = 7_075

/** The port of the part that each role adds. */
export const joinedPorts: Readonly<Record<HostRole, number>> = {
  [HostRole.Gateway]: joinedGatewayPort,
  [HostRole.Worker]: joinedWorkerPort,
  [HostRole.Api]: joinedApiPort,
}

/** The path below those of a host at which it learns where the processes of the API are. */
export const apiAddressesPath = 'apis'

/** The path below those of a host at which it learns what its own API or worker needs. */
export const controlSettingsPath = 'control-plane'

/** The keys of an installation, by the names of their files. */
export const keyFileNames = [
  'secret.key',
  'join-token',
  'gateway-token',
  'registry.key',
  'registry.crt',
  'authority.key',
  'authority.crt',
] as const
export type KeyFileName = (typeof keyFileNames)[number]

/** What a worker reads of them. An API reads all. */
export const workerKeys: readonly KeyFileName[] = ['secret.key', 'gateway-token']

/** What processes of the API and workers have in common on all machines of an installation. */
export interface ControlSettings {
  /** The settings by the names of their variables. */
  readonly settings: Readonly<Record<string, string>>
  readonly keys: Readonly<Partial<Record<KeyFileName, string>>>
}
