import { defineEntity, p } from '@mikro-orm/postgresql'
import type { AutoscalePolicy } from '../../domain/autoscale/policy.ts'
import { Instance } from './instance.ts'
import { Service } from './service.ts'
import { User } from './user.ts'

/**
 * How a service is scaled. A row with `deletedAt` exists only for its workflow, which gives the clones back
 * and removes the row. A new configuration of the service takes the row over.
 */
export const AutoscaleConfiguration = defineEntity({
  name: 'AutoscaleConfiguration',
  tableName: 'autoscale_configurations',
  indexes: [
    {
      name: 'autoscale_configurations_unstarted_index',
      expression:
        'create index autoscale_configurations_unstarted_index on autoscale_configurations (created_at) where workflow_started_at is null',
    },
    {
      name: 'autoscale_configurations_deleted_index',
      expression:
        'create index autoscale_configurations_deleted_index on autoscale_configurations (deleted_at) where deleted_at is not null',
    },
  ],
  properties: {
    service: () => p.oneToOne(Service).owner().primary().deleteRule('cascade'),
    user: () => p.manyToOne(User),
    createdAt: p.datetime(3).defaultRaw('now()'),
    deletedAt: p.datetime(3).nullable(),
    workflowStartedAt: p.datetime(3).nullable(),
    /**
     * The instance from which clones are made. Null once that instance's row is removed. The configuration
     * was marked deleted together with the instance.
     */
    master: () =>
      p.manyToOne(Instance).nullable().deleteRule('set null').index('autoscale_configurations_master_index'),
    minSize: p.integer(),
    maxSize: p.integer(),
    warmupMs: p.integer(),
    cooldownMs: p.integer(),
    policies: p.json<readonly AutoscalePolicy[]>(),
    /** The size that was decided last. An alignment writes it. */
    target: p.integer().nullable(),
  },
})
