import type { MigrationObject } from '@mikro-orm/core'
import { Migration20261124224500_initial } from './20261124224500-initial.ts'

/**
 * In the order in which they run, which is that of their names. Names stand in every database that ran them
 * and never change.
 */
export const migrationList: readonly MigrationObject[] = [
  { name: 'Migration20261124224500_initial', class: Migration20261124224500_initial },
]
