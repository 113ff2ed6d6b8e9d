import { isIP } from 'node:net'
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { requestError } from '../../contract/errors.ts'
import { closed } from '../../contract/fields.ts'
import { maxImageOwnersTold, maxOccupiedSubnetsTold } from '../../domain/host/api-protocol.ts'
import type { HostReport, NodeHeartbeat } from '../../domain/host/api-protocol.ts'
import { readHostUpgrade } from '../../domain/host/upgrade.ts'
import { termBoundsMs } from '../../domain/host/term.ts'
import { hostAndPort, readHostAndPort } from '../../domain/host-and-port.ts'
import { isAmongHosts } from '../../domain/host/private-address.ts'
import { messageReader } from './message-reader.ts'

/** More processors than any machine has. */
const maxCpus = 65_536

/** What a host tells of its place in the mesh. */
const meshSchema = closed({
  publicKey: Type.String({ pattern: '^[A-Za-z0-9+/]{43}=$' }),
  endpoint: Type.String({ maxLength: 64, pattern: '^[0-9a-fA-F.:\\[\\]]+$' }),
})

/** The messages of hosts, as in `src/domain/host/api-protocol.ts`. */
const heartbeatSchema = closed({
  agentUrl: Type.String({ minLength: 1, maxLength: 512, pattern: '^https?://' }),
  /** The agent's secret. Its characters are restricted because it is put into a header unchanged. */
  agentSecret: Type.String({ minLength: 16, maxLength: 512, pattern: '^[\\w.~+/=-]+$' }),
  accelerator: Type.Unsafe<NodeHeartbeat['accelerator']>({ type: 'string', enum: ['kvm', 'tcg', 'fake'] }),
  memoryMb: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  /** Absent from agents of earlier versions. */
  cpus: Type.Optional(Type.Integer({ minimum: 1, maximum: maxCpus })),
  /** The host's room for volumes. If it is absent, the host takes no volumes. */
  volumeMb: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
  /**
   * The bytes of each user's images. They are absent from heartbeats that are not full, and from agents of
   * earlier versions.
   */
  imageBytes: Type.Optional(
    Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), {
      propertyNames: { format: 'uuid' },
      maxProperties: maxImageOwnersTold,
    }),
  ),
  /** Absent from agents of earlier versions. */
  occupiedSubnets: Type.Optional(
    Type.Array(Type.String({ maxLength: 18 }), { maxItems: maxOccupiedSubnetsTold }),
  ),
  version: Type.String({ maxLength: 128 }),
  /** What of it is understood, `readHostUpgrade` says. The rest is left out. */
  upgrade: Type.Optional(Type.Unknown()),
  mesh: Type.Optional(meshSchema),
  meshRevision: Type.Optional(Type.String({ maxLength: 64 })),
  /** Absent if its VMs do not end by themselves, and from agents of earlier versions. */
  termMs: Type.Optional(Type.Integer({ minimum: termBoundsMs.shortest, maximum: termBoundsMs.longest })),
  /** Absent from agents of earlier versions. */
  loss: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647 })),
})

const registryTokenSchema = closed({ repository: Type.String({ minLength: 1, maxLength: 255 }) })

const hostReportSchema = closed({
  kind: Type.Unsafe<HostReport['kind']>({ type: 'string', enum: ['instance', 'volume'] }),
  uuid: Type.String({ format: 'uuid' }),
  /** Which kinds are taken, `isReportable` says. */
  event: Type.Object({ kind: Type.String({ maxLength: 64 }) }, { maxProperties: 64 }),
})

const readHeartbeat = messageReader(heartbeatSchema, 'heartbeat')

export function parseHeartbeat(body: unknown): NodeHeartbeat {
  const { mesh, upgrade: told, ...rest } = readHeartbeat(body)
  const upgrade = readHostUpgrade(told)
  const beat = { volumeMb: 0, occupiedSubnets: [], ...rest, ...(upgrade && { upgrade }) }
  if (mesh === undefined) return beat
  const endpoint = meshEndpoint(mesh.endpoint)
  if (endpoint === undefined) throw requestError('invalidContent', wrongEndpoint)
  return { ...beat, mesh: { ...mesh, endpoint } }
}

export const parseRegistryTokenRequest: (body: unknown) => Static<typeof registryTokenSchema> = messageReader(
  registryTokenSchema,
  'registry token request',
)

const wrongEndpoint = {
  name: 'mesh.endpoint',
  place: 'the heartbeat',
  reason: 'it has to be an IP address outside 10.64.0.0/10 and a port',
}

/** How an address of IPv4 begins that is written as one of IPv6. */
const ipv4InIpv6 = '::ffff:'

/**
 * The endpoint as all machines are told it. Machines send to the endpoints of the others, so one that can not
 * be reached must not get among them: undefined then.
 */
function meshEndpoint(text: string): string | undefined {
  const { host = '', port } = readHostAndPort(text) ?? {}
  if (isIP(host) === 0 || port === undefined) return undefined
  return isAmongHosts(`${host}/32`) || host.startsWith(ipv4InIpv6) ? undefined : hostAndPort({ host, port })
}

const readHostReport = messageReader(hostReportSchema, 'report')

export function parseHostReport(body: unknown): HostReport {
  return readHostReport(body) as HostReport
}
