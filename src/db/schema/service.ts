import { defineEntity, p } from '@mikro-orm/postgresql'
import type { PublishedPort } from '../../domain/service/handler.ts'
import { User } from './user.ts'

/**
 * Published ports and how their traffic is balanced. After the insert `persistent`, the limits, the ports
 * and the columns of a rollout change, and `feedXid` with all that the feed shows. The name never changes.
 */
export const Service = defineEntity({
  name: 'Service',
  tableName: 'services',
  indexes: [{ name: 'services_page_index', properties: ['user', 'position'] }],
  uniques: [{ name: 'services_name_unique', properties: ['user', 'name'] }],
  properties: {
    uuid: p.uuid().primary(),
    /** The order of creation, which is the order of every list. */
    position: p.bigint('number').autoincrement(),
    user: () => p.manyToOne(User),
    name: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** False: the service is deleted with the one instance that it was made with. */
    persistent: p.boolean(),
    softLimit: p.integer(),
    hardLimit: p.integer(),
    ports: p.json<readonly PublishedPort[]>(),
    /** The rollout that is under way. It is no reference, because rollouts refer to the service. */
    rolloutUuid: p.uuid().nullable(),
    /** The share of the traffic that the new version gets, in percent. */
    rolloutPercent: p.integer().nullable(),
    /** Whether gateways let requests wait, because neither version can serve. */
    rolloutHeld: p.boolean().default(false),
    /**
     * The last transaction that changed anything that the route feed shows of this row. A trigger writes it.
     */
    feedXid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()').index('services_feed_index'),
  },
})
