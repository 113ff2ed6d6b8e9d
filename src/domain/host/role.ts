import { PlatformPart } from '../platform-part.ts'
import type { PartName } from '../part-name.ts'

/** What a machine that joined does besides running instances. A role is named after the part that it adds. */
export const HostRole = {
  Gateway: PlatformPart.Gateway,
  Api: PlatformPart.Api,
  Worker: PlatformPart.Worker,
} as const
export type HostRole = (typeof HostRole)[keyof typeof HostRole]

/** The roles whose parts get a certificate with the join. An API has the authority and issues its own. */
export const certifiedRoles = [HostRole.Gateway, HostRole.Worker] as const
export type CertifiedRole = (typeof certifiedRoles)[number]

/** The hashes of the public keys of the parts that roles add. */
export type RoleKeys = Readonly<Partial<Record<CertifiedRole, string>>>

export const hostRoles: readonly HostRole[] = Object.values(HostRole)

export function isHostRole(value: unknown): value is HostRole {
  return hostRoles.some((role) => role === value)
}

/** Whether a machine with these roles has this part. Every machine that joined has an agent. */
export function hasPart(roles: readonly HostRole[], part: PartName['part']): boolean {
  return part === PlatformPart.Agent || roles.some((role) => role === part)
}

/** Whether one of these roles needs PostgreSQL and Temporal that other machines reach. */
export function isControlRole(role: HostRole): boolean {
  return role === HostRole.Api || role === HostRole.Worker
}

export function isCertified(role: HostRole): role is CertifiedRole {
  return certifiedRoles.some((one) => one === role)
}
