import type { MigrationObject } from '@mikro-orm/core'
import { Migration20261121095209_initial } from './20261121095209-initial.ts'
import { Migration20261121122709_services } from './20261121122709-services.ts'
import { Migration20261121124500_route_feed } from './20261121124500-route-feed.ts'
import { Migration20261121153703_volumes } from './20261121153703-volumes.ts'
import { Migration20261121161743_certificates } from './20261121161743-certificates.ts'
import { Migration20261121190137_autoscale } from './20261121190137-autoscale.ts'
import { Migration20261121230046_host_silence } from './20261121230046-host-silence.ts'
import { Migration20261121232700_state_since } from './20261121232700-state-since.ts'
import { Migration20261122184500_deleted_positions } from './20261122184500-deleted-positions.ts'
import { Migration20261123025500_registry_quota } from './20261123025500-registry-quota.ts'
import { Migration20261123032100_authority_orders } from './20261123032100-authority-orders.ts'
import { Migration20261123033800_snapshot_quota } from './20261123033800-snapshot-quota.ts'
import { Migration20261123053000_image_quota } from './20261123053000-image-quota.ts'
import { Migration20261123125000_failure_kind } from './20261123125000-failure-kind.ts'

/** In the order in which they run. Names stand in every database that ran them and never change. */
export const migrationList: readonly MigrationObject[] = [
  { name: 'Migration20261121095209_initial', class: Migration20261121095209_initial },
  { name: 'Migration20261121122709_services', class: Migration20261121122709_services },
  { name: 'Migration20261121124500_route_feed', class: Migration20261121124500_route_feed },
  { name: 'Migration20261121153703_volumes', class: Migration20261121153703_volumes },
  { name: 'Migration20261121161743_certificates', class: Migration20261121161743_certificates },
  { name: 'Migration20261121190137_autoscale', class: Migration20261121190137_autoscale },
  { name: 'Migration20261121230046_host_silence', class: Migration20261121230046_host_silence },
  { name: 'Migration20261121232700_state_since', class: Migration20261121232700_state_since },
  { name: 'Migration20261122184500_deleted_positions', class: Migration20261122184500_deleted_positions },
  { name: 'Migration20261123025500_registry_quota', class: Migration20261123025500_registry_quota },
  { name: 'Migration20261123032100_authority_orders', class: Migration20261123032100_authority_orders },
  { name: 'Migration20261123033800_snapshot_quota', class: Migration20261123033800_snapshot_quota },
  { name: 'Migration20261123053000_image_quota', class: Migration20261123053000_image_quota },
  { name: 'Migration20261123125000_failure_kind', class: Migration20261123125000_failure_kind },
]
