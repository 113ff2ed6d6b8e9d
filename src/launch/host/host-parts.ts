import { joinedGatewayPort } from '../../domain/host/gateway-role.ts'
import type { SharedGatewaySettings } from '../../domain/host/gateway-role.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import { compiledIn } from '../parts/compiled-sources.ts'
import type { Confinement } from '../parts/part-confinement.ts'
import type { Part } from '../parts/part.ts'
import { ownProgram } from '../parts/own-program.ts'
import { agentSignals } from '../parts/roost-parts.ts'
import { controlParts } from './control-role.ts'
import type { ControlPartsOptions } from './control-role.ts'
import { gatewayIdentityDirectory, identityDirectory } from './joined-host.ts'
import type { JoinedHost } from './joined-host.ts'
import { untilReady } from './until-ready.ts'

const agentStopLimitMs = 5_000
const gatewayStopLimitMs = 2_000

export interface HostPartsOptions {
  readonly joined: JoinedHost
  /** Where the parts of this machine reach the API. */
  readonly apiAt: string
  readonly identity: PartIdentity
  readonly dataDir: string
  readonly agentDir: string
  readonly agentPort: number
  /** Present if the machine has the role of a gateway. */
  readonly gateway?: {
    readonly directory: string
    readonly shared: SharedGatewaySettings
    readonly confinement: Confinement | undefined
  }
  /** Present if the machine has the role of an API or of a worker. */
  readonly control?: ControlPartsOptions
}

/** The parts of a machine that joined: the agent, and those of its roles. */
export function hostParts(options: HostPartsOptions): readonly Part[] {
  return [
    agentPart(options),
    ...(options.control === undefined ? [] : controlParts(options, options.control)),
    ...(options.gateway === undefined ? [] : [gatewayPart(options, options.gateway)]),
  ]
}

function agentPart({ joined, apiAt, identity, dataDir, agentDir, agentPort }: HostPartsOptions): Part {
  const controlPlane = `https://${apiAt}`
  const { hostId, ownAddress } = joined
  const place = { host: ownAddress, port: agentPort }
  return {
    ...ownProgram('agent'),
    env: {
      ROOST_DATA_DIR: dataDir,
      ROOST_AGENT_DIR: agentDir,
      ROOST_NODE_ID: hostId,
      ROOST_API_URL: controlPlane,
      ROOST_REGISTRY_URL: controlPlane,
      TEMPORAL_ADDRESS: apiAt,
      TEMPORAL_NAMESPACE: joined.temporalNamespace,
      ROOST_AGENT_HOST: ownAddress,
      ROOST_AGENT_PORT: String(agentPort),
      ROOST_IDENTITY_DIR: identityDirectory(dataDir),
    },
    ...agentSignals,
    stopLimitMs: agentStopLimitMs,
    ready: async (signal) =>
      await untilReady({ ...place, name: { part: PlatformPart.Agent, id: hostId } }, identity, signal),
  }
}

/** The gateway has the settings of the machine, except for what all gateways have in common. */
function gatewayPart(
  { joined, apiAt, identity, dataDir, agentPort }: HostPartsOptions,
  { directory, shared, confinement }: NonNullable<HostPartsOptions['gateway']>,
): Part {
  const { hostId, ownAddress } = joined
  const place = { host: ownAddress, port: joinedGatewayPort }
  return {
    ...ownProgram('gateway'),
    confinement,
    env: {
      ROOST_DATA_DIR: dataDir,
      ROOST_GATEWAY_DIR: directory,
      ROOST_API_URL: `https://${apiAt}`,
      ROOST_IDENTITY_DIR: gatewayIdentityDirectory(directory),
      ROOST_AGENT_PORT: String(agentPort),
      ROOST_METRICS_HOST: ownAddress,
      ROOST_GATEWAY_METRICS_PORT: String(joinedGatewayPort),
      ROOST_METRO_DOMAIN: shared.metroDomain,
      ROOST_PORT_OFFSET: String(shared.portOffset),
      ROOST_REGISTRY_BOUNDED: shared.registryBounded ? 'on' : 'off',
      ...compiledIn(directory),
    },
    handsOver: true,
    // SIGTERM asks the gateway to hand over its work. This signal ends it.
    stopSignal: 'SIGINT',
    stopLimitMs: gatewayStopLimitMs,
    ready: async (signal) =>
      await untilReady({ ...place, name: { part: PlatformPart.Gateway, id: hostId } }, identity, signal),
  }
}
