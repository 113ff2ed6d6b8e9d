import type { MigrationObject } from '@mikro-orm/core'
import { Migration20261121095209_initial } from './20261121095209-initial.ts'

/** In the order in which they run. Names stand in every database that ran them and never change. */
export const migrationList: readonly MigrationObject[] = [
  { name: 'Migration20261121095209_initial', class: Migration20261121095209_initial },
]
