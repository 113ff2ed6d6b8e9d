import { defineEntity, p } from '@mikro-orm/postgresql'

/** A worker that runs. It renews its row every few seconds; the row of a killed one is removed by another. */
export const Worker = defineEntity({
  name: 'Worker',
  tableName: 'workers',
  properties: {
    /** The identity under which Temporal knows it. */
    id: p.text().primary(),
    heardAt: p.datetime(3).defaultRaw('now()'),
  },
})
