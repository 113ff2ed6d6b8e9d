import { joinedMachines } from '../../db/host/joining.ts'
import type { Database } from '../../db/database.ts'
import { workerKeys } from '../../domain/host/control-role.ts'
import type { ControlSettings } from '../../domain/host/control-role.ts'
import { HostRole, isControlRole } from '../../domain/host/role.ts'

/**
 * What the API and the worker of this host's machine need of what all of them have in common. Undefined if
 * the host has no such role.
 */
export async function controlSettingsFor(
  database: Database,
  shared: ControlSettings,
  hostId: string,
): Promise<ControlSettings | undefined> {
  const { roles = [] } = (await joinedMachines(database)).get(hostId) ?? {}
  if (!roles.some(isControlRole)) return undefined
  if (roles.includes(HostRole.Api)) return shared
  const keys = Object.fromEntries(workerKeys.map((name) => [name, shared.keys[name]]))
  return { ...shared, keys }
}
