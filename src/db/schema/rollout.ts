import { defineEntity, p } from '@mikro-orm/postgresql'
import type { Asker } from '../../domain/event/asker.ts'
import { RolloutPhase } from '../../domain/rollout/phase.ts'
import type { RolloutPlan } from '../../domain/rollout/plan.ts'
import type { RolloutProgress } from '../../domain/rollout/progress.ts'
import { Service } from './service.ts'
import { User } from './user.ts'

/**
 * A new version of the instances of a service, on its way in or past. Its instances name it, and so does the
 * service while traffic is divided. What the new version is launched with is in the rows of its instances
 * alone.
 */
export const Rollout = defineEntity({
  name: 'Rollout',
  tableName: 'rollouts',
  indexes: [
    { name: 'rollouts_list_index', properties: ['service', 'position'] },
    {
      name: 'rollouts_unstarted_index',
      expression:
        'create index rollouts_unstarted_index on rollouts (created_at) where workflow_started_at is null and ended_at is null',
    },
  ],
  properties: {
    uuid: p.uuid().primary(),
    /** The order in which rollouts began. */
    position: p.bigint('number').autoincrement(),
    user: () => p.manyToOne(User),
    service: () => p.manyToOne(Service).deleteRule('cascade'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    workflowStartedAt: p.datetime(3).nullable(),
    /** Who asked for it. */
    asker: p.json<Asker>(),
    plan: p.json<RolloutPlan>(),
    /** What is other than in the old version, in words without secrets. */
    changes: p.json<readonly string[]>(),
    /** How many instances the new version replaces. */
    replaced: p.integer().default(0),
    /** Whether the instances have volumes, which only one version can have at a time. */
    hasVolumes: p.boolean(),
    /** Whether the service was to stay without instances when the rollout began. */
    wasPersistent: p.boolean(),
    phase: p.enum(() => RolloutPhase).default(RolloutPhase.Preparing),
    /** The index of the step in the plan. */
    step: p.integer().default(0),
    /** When the phase, or its step, began. */
    since: p.datetime(3).defaultRaw('now()'),
    progress: p.json<RolloutProgress>().defaultRaw("'{}'"),
    /** Who gave the word to go back. Null: nobody. */
    recalledBy: p.json<Asker>().nullable(),
    /** Whether the old version has to come up before it gets the traffic again. */
    revives: p.boolean().default(false),
    /** Why it goes or went back. */
    reason: p.text().nullable(),
    /** Until when the old version is kept. */
    keptUntil: p.datetime(3).nullable(),
    endedAt: p.datetime(3).nullable(),
  },
})
