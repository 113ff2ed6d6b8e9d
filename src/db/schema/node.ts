import { defineEntity, p } from '@mikro-orm/postgresql'
import type { HostLabels } from '../../domain/host/labels.ts'
import type { HostUpgrade } from '../../domain/host/upgrade.ts'
import type { NodeHeartbeat } from '../../domain/host/api-protocol.ts'

/** A host: the address of its agent and the network of its instances. */
export const Node = defineEntity({
  name: 'Node',
  tableName: 'nodes',
  properties: {
    id: p.text().primary(),
    agentUrl: p.text(),
    /** The agent's secret, sealed by the secret box. Empty if an administrator released the host. */
    agentSecret: p.text(),
    accelerator: p.text().$type<NodeHeartbeat['accelerator']>(),
    memoryMb: p.integer(),
    /** How many processors its VMs share. Null: its agent is of an earlier version and does not tell. */
    cpus: p.integer().nullable(),
    /** The room for all volumes of the host together, in MiB. */
    volumeMb: p.integer().default(0),
    /** The size of each user's unpacked images, by the user's UUID. */
    imageBytes: p.json<Readonly<Record<string, number>>>().default('{}'),
    version: p.text(),
    /** The upgrade that the host told with its last heartbeat. Null: it told none. */
    upgrade: p.json<HostUpgrade>().nullable(),
    /** The public key with which the host is in the mesh. Null: it takes no part. */
    meshKey: p.text().nullable(),
    /** Where the host gets the packets of the mesh: an IP address and a port. */
    meshEndpoint: p.text().nullable(),
    subnet: p.text().unique('nodes_subnet_unique'),
    /**
     * The index of the address that is tried next. It goes round, so that an address is not used again right
     * after it was freed.
     */
    nextAddress: p.integer(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    heartbeatAt: p.datetime(3),
    /**
     * When an administrator cordoned the host: nothing new is placed there since. Null: it is not cordoned.
     * Neither a heartbeat nor a release changes it.
     */
    cordonedAt: p.datetime(3).nullable(),
    /**
     * Since when the host is to be emptied: its instances move to other hosts. It is cordoned then, too.
     * Null: it is not to be emptied, or nothing is left on it. A heartbeat does not change it.
     */
    drainingAt: p.datetime(3).nullable(),
    /** What administrators note about the host. Neither a heartbeat nor a release changes it. */
    labels: p.json<HostLabels>().default('{}'),
    /**
     * The term that the host told with its last heartbeat: its VMs end that long after it at the latest,
     * unless another heartbeat is answered. Null: they do not, so the host is never taken for lost.
     */
    termMs: p.integer().nullable(),
    /** How often the host was lost. A heartbeat that tells another number renews no term. */
    loss: p.integer().default(0),
    /** When the host was declared lost. Null: it is not, or it has cleared up since. */
    lostAt: p.datetime(3).nullable(),
    /**
     * When an administrator removed the host as lost. Its heartbeats are refused since. The row stays as long
     * as instances or volumes are on it. Null: it was not removed.
     */
    removedAt: p.datetime(3).nullable(),
    /** The time of the first heartbeat since the last silence. */
    heardSince: p.datetime(3).defaultRaw('now()'),
    /**
     * The last transaction that changed anything that the route feed shows of this row. A trigger writes it.
     */
    feedXid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()').index('nodes_feed_index'),
  },
})
