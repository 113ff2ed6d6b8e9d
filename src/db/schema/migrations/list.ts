import type { MigrationObject } from '@mikro-orm/core'
import { Migration20261124224500_initial } from './20261124224500-initial.ts'
import { Migration20261125203000_names_in_indexes } from './20261125203000-names-in-indexes.ts'
import { Migration20261126084427_token_scopes } from './20261126084427-token-scopes.ts'
import { Migration20261126084513_events } from './20261126084513-events.ts'
import { Migration20261126120500_console_sessions } from './20261126120500-console-sessions.ts'
import { Migration20261126224756_host_cordons } from './20261126224756-host-cordons.ts'
import { Migration20261127022000_instance_changes } from './20261127022000-instance-changes.ts'
import { Migration20261127030000_schedules } from './20261127030000-schedules.ts'
import { Migration20261127040000_rollouts } from './20261127040000-rollouts.ts'
import { Migration20261127052000_suspended } from './20261127052000-suspended.ts'
import { Migration20261127060000_scheduled_rollouts } from './20261127060000-scheduled-rollouts.ts'
import { Migration20261127070000_replaced_instances } from './20261127070000-replaced-instances.ts'
import { Migration20261127080000_joined_hosts } from './20261127080000-joined-hosts.ts'
import { Migration20261127090000_mesh } from './20261127090000-mesh.ts'
import { Migration20261127100000_placements } from './20261127100000-placements.ts'
import { Migration20261127110000_names_across_hosts } from './20261127110000-names-across-hosts.ts'
import { Migration20261127150000_workers } from './20261127150000-workers.ts'
import { Migration20261128010000_host_labels } from './20261128010000-host-labels.ts'
import { Migration20261128010000_host_roles } from './20261128010000-host-roles.ts'
import { Migration20261128020000_metro_certificates } from './20261128020000-metro-certificates.ts'
import { Migration20261128030000_api_addresses } from './20261128030000-api-addresses.ts'
import { Migration20261128040000_role_keys } from './20261128040000-role-keys.ts'
import { Migration20261128050000_host_terms } from './20261128050000-host-terms.ts'
import { Migration20261128060000_removed_hosts } from './20261128060000-removed-hosts.ts'
import { Migration20261128070000_seats } from './20261128070000-seats.ts'
import { Migration20261128080000_moves } from './20261128080000-moves.ts'
import { Migration20261128090000_draining } from './20261128090000-draining.ts'
import { Migration20261129080000_host_upgrades } from './20261129080000-host-upgrades.ts'

/**
 * A version works with the database if it knows this migration, whatever came after. It is the last one
 * of the version before, so that an upgrade can go back, and machines can be upgraded one after another.
 * A migration after it takes nothing away and asks for nothing new (`CONTRIBUTING.md`); what is not used
 * any more is taken away one version later.
 */
export const worksFrom = 'Migration20261128090000_draining'

/**
 * The migrations in the order in which they run, which is the order of their names. Every database that
 * ran a migration holds its name, so a name never changes.
 */
export const migrationList: readonly MigrationObject[] = [
  { name: 'Migration20261124224500_initial', class: Migration20261124224500_initial },
  { name: 'Migration20261125203000_names_in_indexes', class: Migration20261125203000_names_in_indexes },
  { name: 'Migration20261126084427_token_scopes', class: Migration20261126084427_token_scopes },
  { name: 'Migration20261126084513_events', class: Migration20261126084513_events },
  { name: 'Migration20261126120500_console_sessions', class: Migration20261126120500_console_sessions },
  { name: 'Migration20261126224756_host_cordons', class: Migration20261126224756_host_cordons },
  { name: 'Migration20261127022000_instance_changes', class: Migration20261127022000_instance_changes },
  { name: 'Migration20261127030000_schedules', class: Migration20261127030000_schedules },
  { name: 'Migration20261127040000_rollouts', class: Migration20261127040000_rollouts },
  { name: 'Migration20261127052000_suspended', class: Migration20261127052000_suspended },
  { name: 'Migration20261127060000_scheduled_rollouts', class: Migration20261127060000_scheduled_rollouts },
  { name: 'Migration20261127070000_replaced_instances', class: Migration20261127070000_replaced_instances },
  { name: 'Migration20261127080000_joined_hosts', class: Migration20261127080000_joined_hosts },
  { name: 'Migration20261127090000_mesh', class: Migration20261127090000_mesh },
  { name: 'Migration20261127100000_placements', class: Migration20261127100000_placements },
  { name: 'Migration20261127110000_names_across_hosts', class: Migration20261127110000_names_across_hosts },
  { name: 'Migration20261127150000_workers', class: Migration20261127150000_workers },
  { name: 'Migration20261128010000_host_labels', class: Migration20261128010000_host_labels },
  { name: 'Migration20261128010000_host_roles', class: Migration20261128010000_host_roles },
  { name: 'Migration20261128020000_metro_certificates', class: Migration20261128020000_metro_certificates },
  { name: 'Migration20261128030000_api_addresses', class: Migration20261128030000_api_addresses },
  { name: 'Migration20261128040000_role_keys', class: Migration20261128040000_role_keys },
  { name: 'Migration20261128050000_host_terms', class: Migration20261128050000_host_terms },
  { name: 'Migration20261128060000_removed_hosts', class: Migration20261128060000_removed_hosts },
  { name: 'Migration20261128070000_seats', class: Migration20261128070000_seats },
  { name: 'Migration20261128080000_moves', class: Migration20261128080000_moves },
  { name: 'Migration20261128090000_draining', class: Migration20261128090000_draining },
  { name: 'Migration20261129080000_host_upgrades', class: Migration20261129080000_host_upgrades },
]
