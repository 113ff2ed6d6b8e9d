import { Type } from 'typebox'
import type { Static } from 'typebox'
import { RequestError } from '../../contract/errors.ts'
import { closed } from '../../contract/fields.ts'
import { problemsOf } from '../../contract/request/validation-problems.ts'
import { strictValidator } from '../../contract/request/validators.ts'
import { maxImageOwnersTold, maxOccupiedSubnetsTold } from '../../domain/host/api-protocol.ts'
import type { NodeHeartbeat } from '../../domain/host/api-protocol.ts'

/** More processors than any machine has. */
const maxCpus = 65_536

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
})

const registryTokenSchema = closed({ repository: Type.String({ minLength: 1, maxLength: 255 }) })

const validateHeartbeat = strictValidator(heartbeatSchema)
const validateRegistryToken = strictValidator(registryTokenSchema)

export function parseHeartbeat(body: unknown): NodeHeartbeat {
  refuse(problemsOf(validateHeartbeat(body), { place: 'heartbeat', prefix: '', schema: heartbeatSchema }))
  return { volumeMb: 0, occupiedSubnets: [], ...(body as Static<typeof heartbeatSchema>) }
}

export function parseRegistryTokenRequest(body: unknown): Static<typeof registryTokenSchema> {
  const where = { place: 'registry token request', prefix: '', schema: registryTokenSchema }
  refuse(problemsOf(validateRegistryToken(body), where))
  return body as Static<typeof registryTokenSchema>
}

function refuse(problems: ReturnType<typeof problemsOf>): void {
  if (problems.length > 0) throw new RequestError(problems)
}
