import { DataKey, Scope } from '../../src/contract/operation.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { makeTestCertificate } from './certificate-maker.ts'

/** Identifiers that no object has. */
export const nobody = { uuid: '11111111-1111-4111-8111-111111111111', name: 'nobody' }

const certificate = await makeTestCertificate({ subject: 'CN=example.com', names: ['example.com'] })

let accounts = 0

/**
 * For each kind of object: its word in messages, the operations that make and show one, and a body for that.
 */
const kinds = {
  [DataKey.Instances]: {
    kind: 'instance',
    create: 'createInstances',
    get: 'getInstances',
    body: { image: 'hello' },
  },
  [DataKey.ServiceGroups]: { kind: 'service group', create: 'createServices', get: 'getServices', body: {} },
  [DataKey.Certificates]: {
    kind: 'certificate',
    create: 'createCertificates',
    get: 'getCertificates',
    body: { cn: 'example.com', chain: certificate.pem, pkey: certificate.pkey },
  },
  [DataKey.Volumes]: { kind: 'volume', create: 'createVolumes', get: 'getVolumes', body: { size_mb: 8 } },
  [DataKey.Schedules]: {
    kind: 'schedule',
    create: 'createSchedules',
    get: 'getSchedules',
    body: { cron: '@daily', action: { start: { instances: ['web'] } } },
  },
  [DataKey.Policies]: {
    kind: 'autoscale policy',
    create: 'addAutoscalePolicies',
    get: 'getAutoscalePolicies',
    body: { name: 'grow', type: 'step', steps: [{ lower_bound: 500, adjustment: 1 }] },
  },
  [DataKey.Users]: {
    kind: 'user',
    create: 'createUsers',
    get: 'getUsers',
    /** The names of accounts are not repeated, and no operation deletes an account. */
    get body() {
      return { name: `made-${accounts++}x` }
    },
  },
  [DataKey.Tokens]: { kind: 'token', create: 'createTokens', get: 'getTokens', body: {} },
} as const

/** Invitations are in the same place of answers as hosts. */
const invitations = {
  kind: 'invitation',
  create: 'inviteHosts',
  get: 'getHostInvitations',
  body: {},
} as const
const invitationsPath = '/v1/hosts/invitations'

/** A kind whose objects an operation makes. */
export type MadeKind = (typeof kinds)[keyof typeof kinds] | typeof invitations

/** The name of the host of a test's API. Hosts join; no operation makes one. */
export const testHostName = 'local'

export function kindOf({ dataKey, path }: Pick<Operation, 'dataKey' | 'path'>) {
  if (path === invitationsPath) return invitations
  if (dataKey === DataKey.Hosts) return { kind: 'host', get: 'getHosts' } as const
  return kinds[dataKey in kinds ? (dataKey as keyof typeof kinds) : DataKey.Instances]
}

/** The parameters that operations require beside identifiers. */
export const requiredParameters: Readonly<Record<string, object>> = {
  attachVolumes: { attach_to: { name: 'nobody' }, at: '/data' },
  createAutoscale: { master: { name: 'nobody' } },
  updateCertificates: { chain: certificate.pem, pkey: certificate.pkey },
  moveInstances: { host: 'nowhere' },
  setUserQuotas: { hard: { instances: 100_000 } },
}

/** The smallest body that an operation accepts, without identifiers. Waits are 1 ms long. */
export function leastBody(operation: Operation): object {
  const kind = kindOf(operation)
  if (operation.scope === Scope.Create && 'body' in kind) return kind.body
  return 'timeout_ms' in operation.body.properties
    ? { timeout_ms: 1 }
    : (requiredParameters[operation.id] ?? {})
}
