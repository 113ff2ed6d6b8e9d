import { defineEntity, p } from '@mikro-orm/postgresql'
import type { InferEntity } from '@mikro-orm/postgresql'

/** An account. While its row is locked, quotas are checked and what they permit is written. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    uuid: p.uuid().primary(),
    name: p.text().unique('users_name_unique'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** An administrator may push `official/...` to the registry. */
    admin: p.boolean(),
    hardInstances: p.integer(),
    hardLiveInstances: p.integer(),
    hardLiveVcpus: p.integer(),
    hardLiveMemoryMb: p.integer(),
    hardServiceGroups: p.integer(),
    hardServices: p.integer(),
    hardVolumes: p.integer(),
    hardTotalVolumeMb: p.integer(),
    hardRegistryMb: p.integer(),
    hardSnapshotMb: p.integer(),
    hardImageMb: p.integer(),
    minMemoryMb: p.integer(),
    maxMemoryMb: p.integer(),
    minVcpus: p.integer(),
    maxVcpus: p.integer(),
    minVolumeMb: p.integer(),
    maxVolumeMb: p.integer(),
    minAutoscaleSize: p.integer(),
    maxAutoscaleSize: p.integer(),
    /** The size of the account's images in the registry, as the registry's owner measured it last. */
    registryBytes: p.bigint('number').default(0),
  },
})
export type UserEntity = InferEntity<typeof User>
