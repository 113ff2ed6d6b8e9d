import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import { heldFootprintSql } from './memory.ts'
import type { Database } from '../database.ts'
import { releasedSecret } from './hosts.ts'

/** A host as its administrator sees it; without its secret, so that no key is needed. */
export interface NodeOverview {
  readonly id: string
  readonly agentUrl: string
  readonly accelerator: string
  /** What those take that have a VM. */
  readonly usedMemoryMb: number
  /** What they may take. */
  readonly memoryMb: number
  readonly subnet: string
  /** Those included that are being deleted. */
  readonly instances: number
  /** Those included that are being deleted. */
  readonly volumes: number
  /** What they promise together. */
  readonly promisedMb: number
  /** What they may promise. */
  readonly volumeMb: number
  readonly heartbeatAt: Date
  readonly live: boolean
  /** The next host that joins under the id gets it. */
  readonly released: boolean
}

export type NodeRefusal = 'unknown' | 'live' | 'has-instances' | 'has-volumes'
export type NodeChange = { readonly ok: true } | { readonly ok: false; readonly refusal: NodeRefusal }

/** All hosts, by id. */
export async function overlookNodes(database: Database): Promise<readonly NodeOverview[]> {
  return database.rows<NodeOverview>({
    name: 'overlook-nodes',
    text: `select id, agent_url as "agentUrl", accelerator, memory_mb as "memoryMb", subnet,
             ${heldFootprintSql} as "usedMemoryMb",
             (select count(*) from instances where node_id = nodes.id) as instances, kept.*,
             volume_mb as "volumeMb", heartbeat_at as "heartbeatAt",
             heartbeat_at > now() - make_interval(secs => $1) as live, agent_secret = $2 as released
           from nodes, lateral (select count(*) as volumes, coalesce(sum(size_mb), 0) as "promisedMb"
             from volumes where node_id = nodes.id) as kept
           order by id`,
    values: [nodeSilentAfterMs / 1_000, releasedSecret],
  })
}

/** When the host was last heard of; undefined where it is live, or not known. */
export async function silentSinceOf(database: Database, nodeId: string): Promise<Date | undefined> {
  const nodes = await overlookNodes(database)
  const node = nodes.find(({ id, live }) => id === nodeId && !live)
  return node?.heartbeatAt
}

/** Forgets a silent host that has neither instances nor volumes; its id and its network are free then. */
export async function removeNode(database: Database, nodeId: string): Promise<NodeChange> {
  const removed = await database.rows({
    name: 'remove-node',
    text: `delete from nodes where id = $1 and heartbeat_at <= now() - make_interval(secs => $2)
             and not exists (select from instances where node_id = $1)
             and not exists (select from volumes where node_id = $1) returning id`,
    values: [nodeId, nodeSilentAfterMs / 1_000],
  })
  return removed.length > 0 ? { ok: true } : refused(database, nodeId)
}

/** What is deleted and still waits for the host to clean up. */
export interface LeftOnNode {
  readonly instances: readonly string[]
  readonly volumes: readonly string[]
}

/** Of a silent host on which everything is deleted; undefined for any other. */
export async function leftOnNode(database: Database, nodeId: string): Promise<LeftOnNode | undefined> {
  const [left] = await database.rows<LeftOnNode>({
    name: 'left-on-node',
    text: `select array(select uuid::text from instances where node_id = $1) as instances,
             array(select uuid::text from volumes where node_id = $1) as volumes
           from nodes where id = $1 and heartbeat_at <= now() - make_interval(secs => $2)
             and not exists (select from instances where node_id = $1 and deleted_at is null)
             and not exists (select from volumes where node_id = $1 and deleted_at is null)`,
    values: [nodeId, nodeSilentAfterMs / 1_000],
  })
  return left
}

/**
 * Forgets the secret of a silent host, so that the next agent that joins under its id is that host, with its
 * instances and volumes. A host that still beats would take the id back at once, so it is refused.
 */
export async function releaseNode(database: Database, nodeId: string): Promise<NodeChange> {
  const released = await database.rows({
    name: 'release-node',
    text: `update nodes set agent_secret = $3
           where id = $1 and heartbeat_at <= now() - make_interval(secs => $2) returning id`,
    values: [nodeId, nodeSilentAfterMs / 1_000, releasedSecret],
  })
  return released.length > 0 ? { ok: true } : refused(database, nodeId)
}

async function refused(database: Database, nodeId: string): Promise<NodeChange> {
  const node = (await overlookNodes(database)).find(({ id }) => id === nodeId)
  if (node === undefined) return { ok: false, refusal: 'unknown' }
  if (node.live) return { ok: false, refusal: 'live' }
  return { ok: false, refusal: node.instances > 0 ? 'has-instances' : 'has-volumes' }
}
