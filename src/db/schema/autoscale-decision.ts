import { defineEntity, p } from '@mikro-orm/postgresql'
import type { DecisionReport } from '../../domain/autoscale/report.ts'
import { Service } from './service.ts'

/** What autoscale did with a service and why, for people. The last decisions of each service are kept. */
export const AutoscaleDecision = defineEntity({
  name: 'AutoscaleDecision',
  tableName: 'autoscale_decisions',
  indexes: [{ name: 'autoscale_decisions_service_index', properties: ['service', 'position'] }],
  properties: {
    position: p.bigint('number').autoincrement().primary(),
    service: () => p.manyToOne(Service).deleteRule('cascade'),
    at: p.datetime(3).defaultRaw('now()'),
    report: p.json<DecisionReport>(),
  },
})
