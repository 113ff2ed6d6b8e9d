import type { Database } from '../../db/database.ts'
import { admitHost } from '../../db/host/joining.ts'
import { isJsonObject } from '../../domain/json-text.ts'
import type { HostRole } from '../../domain/host/role.ts'
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
  const { secret, publicKey } = isJsonObject(body) ? body : {}
  const isSound =
    typeof secret === 'string' &&
    secret.length <= maxSecretCharacters &&
    typeof publicKey === 'string' &&
    publicKey.length <= maxKeyCharacters
  const keySha256 = isSound ? keyHashOf(publicKey) : undefined
  if (!isSound || keySha256 === undefined) return refusal(400, 'the request to join is malformed')
  const admission = await admitHost(deps.database, { secret, keySha256 })
  if (!admission.ok) return refusal(403, refusals[admission.refusal])
  const { hostId, roles } = admission
  const certificate = await certificateFor(deps, { part: PlatformPart.Agent, id: hostId }, publicKey)
  const ofRoles = await Promise.all(
    roles.map(async (role) => [role, await certificateFor(deps, { part: role, id: hostId }, publicKey)]),
  )
  const roleCertificates = Object.fromEntries(ofRoles) as Partial<Record<HostRole, string>>
  const { temporalNamespace } = deps
  return { status: 200, body: { hostId, certificate, roleCertificates, temporalNamespace } }
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
  used: 'another machine has joined with this invitation: `roost host invite` prints one for each machine',
} as const

function refusal(status: number, message: string): JoinAnswer {
  return { status, body: { message } }
}

/** The hash of a public key in PEM. Undefined if no certificate can be issued for it. */
function keyHashOf(publicKey: string): string | undefined {
  try {
    return keyHash(readPublicKey(publicKey).export({ format: 'der', type: 'spki' }))
  } catch (error) {
    if (error instanceof UnusablePublicKey) return undefined
    throw error
  }
}
