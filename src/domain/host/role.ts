import { PlatformPart } from '../platform-part.ts'
import type { PartName } from '../part-name.ts'

/** What a machine that joined does besides running instances. A role is named after the part that it adds. */
export const HostRole = {
  Gateway: PlatformPart.Gateway,
  Api: PlatformPart.Api,
  Worker: PlatformPart.Worker,
} as const
export type HostRole = (typeof HostRole)[keyof typeof HostRole]

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
