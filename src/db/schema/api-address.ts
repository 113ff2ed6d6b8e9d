import { defineEntity, p } from '@mikro-orm/postgresql'

/** Where a process of the API that runs answers machines that joined. It renews its row every few seconds. */
export const ApiAddress = defineEntity({
  name: 'ApiAddress',
  tableName: 'api_addresses',
  properties: {
    /** Such as `192.0.2.10:7075`. */
    address: p.text().primary(),
    heardAt: p.datetime(3).defaultRaw('now()'),
  },
})
