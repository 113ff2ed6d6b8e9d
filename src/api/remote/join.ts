import type { Database } from '../../db/database.ts'
import { admitHost } from '../../db/host/joining.ts'
import { isJsonObject } from '../../domain/json-text.ts'
import { certifiedRoles, isCertified } from '../../domain/host/role.ts'
import type { PartName } from '../../domain/part-name.ts'
import { PlatformPart } from '../../domain/platform-part.ts'
import { issuePartCertificate, readPublicKey, UnusablePublicKey } from '../../trust/part-authority.ts'
import type { KeyPairPem } from '../../x509/key-pair.ts'
import { keyHash } from './joined-hosts.ts'

export interface JoinDeps {
  readonly database: Database
  readonly authority: KeyPairPem
  readonly temporalNamespace: string
  readonly nowMs: () => number
}

export interface JoinAnswer {
  readonly status: number
  readonly body: object
}

const maxKeyCharacters = 1_000
const maxSecretCharacters = 200

/** Answers a machine that shows the secret of an invitation and its public key. */
export async function answerJoin(deps: JoinDeps, body: unknown): Promise<JoinAnswer> {
  const shown = readJoin(body)
  if (shown === undefined) return malformed
  const { secret, agent, keys } = shown
  const roleKeys = Object.fromEntries([...keys].flatMap(([role, key]) => (key ? [[role, key.sha256]] : [])))
  const admission = await admitHost(deps.database, { secret, keySha256: agent.sha256, roleKeys })
  if (!admission.ok) return refusal(403, refusals[admission.refusal])
  const { hostId, roles } = admission
  const certificate = await certificateFor(deps, { part: PlatformPart.Agent, id: hostId }, agent.pem)
  const ofRoles = await Promise.all(
    roles.filter(isCertified).map(async (role) => {
      const key = keys.get(role)
      return key ? [[role, await certificateFor(deps, { part: role, id: hostId }, key.pem)] as const] : []
    }),
  )
  const roleCertificates = Object.fromEntries(ofRoles.flat())
  const { temporalNamespace } = deps
  return { status: 200, body: { hostId, roles, certificate, roleCertificates, temporalNamespace } }
}

/** The secret, and the keys of its agent and of each role, that a machine shows. Undefined if malformed. */
export function readJoin(body: unknown) {
  const { secret, publicKey, rolePublicKeys = {} } = isJsonObject(body) ? body : {}
  if (typeof secret !== 'string' || secret.length > maxSecretCharacters || !isJsonObject(rolePublicKeys))
    return undefined
  const agent = soundKey(publicKey)
  // A later version may send keys for roles that there are not yet.
  const keys = new Map(certifiedRoles.map((role) => [role, soundKey(rolePublicKeys[role])]))
  return agent && { secret, agent, keys }
}

/** Issues the next certificate of a part for the key that its machine has. */
export async function certificateFor(
  { authority, nowMs }: Pick<JoinDeps, 'authority' | 'nowMs'>,
  name: PartName,
  publicKey: string,
): Promise<string> {
  return await issuePartCertificate(authority, { name, publicKey, nowMs: nowMs() })
}

const refusals = {
  unknown: 'there is no such invitation: `roost host invite` prints a new one',
  expired: 'the invitation has expired, it was good for an hour: `roost host invite` prints a new one',
  'no-key':
    'the invitation gives this machine a role that its version of Roost does not have: install the version of the control plane',
  used: 'another machine has joined with this invitation: `roost host invite` prints one for each machine',
} as const

const malformed = refusal(400, 'the request to join is malformed')

function refusal(status: number, message: string): JoinAnswer {
  return { status, body: { message } }
}

/** A public key in PEM and its hash. Undefined if it is none for which a certificate can be issued. */
function soundKey(pem: unknown): { readonly pem: string; readonly sha256: string } | undefined {
  if (typeof pem !== 'string' || pem.length > maxKeyCharacters) return undefined
  try {
    return { pem, sha256: keyHash(readPublicKey(pem).export({ format: 'der', type: 'spki' })) }
  } catch (error) {
    if (error instanceof UnusablePublicKey) return undefined
    throw error
  }
}
