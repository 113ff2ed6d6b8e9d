import type { MigrationObject } from '@mikro-orm/core'
import { Migration20261124224500_initial } from './20261124224500-initial.ts'

/**
 * The migrations in the order in which they run, which is the order of their names. Every database that ran
 * a migration holds its name, so a name never changes.
 */
export const migrationList: readonly MigrationObject[] = [
  { name: 'Migration20261124224500_initial', class: Migration20261124224500_initial },
]
