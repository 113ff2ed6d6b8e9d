import { defineEntity, p } from '@mikro-orm/postgresql'
import type { NodeHeartbeat } from '../../domain/host/api-protocol.ts'

/** A host: where its agent is reached and which network its instances live in. */
export const Node = defineEntity({
  name: 'Node',
  tableName: 'nodes',
  properties: {
    id: p.text().primary(),
    agentUrl: p.text(),
    /** Sealed by the secret box; empty where an administrator released the host. */
    agentSecret: p.text(),
    accelerator: p.text().$type<NodeHeartbeat['accelerator']>(),
    memoryMb: p.integer(),
    /** Room for volumes in all. */
    volumeMb: p.integer().default(0),
    /** What the unpacked images of each user take, by the user's UUID. */
    imageBytes: p.json<Readonly<Record<string, number>>>().default('{}'),
    version: p.text(),
    subnet: p.text().unique('nodes_subnet_unique'),
    /** The address index tried next; it goes round, so that an address just freed rests for a while. */
    nextAddress: p.integer(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    heartbeatAt: p.datetime(3),
    /** The first of the heartbeats that followed each other without a silence. */
    heardSince: p.datetime(3).defaultRaw('now()'),
    /** The last transaction whose change the route feed tells; a trigger keeps it. */
    feedXid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()').index('nodes_feed_index'),
  },
})
