import { nodeSilentAfterMs } from '../domain/node-protocol.ts'
import type { NodeAssignment, NodeHeartbeat } from '../domain/node-protocol.ts'
import { firstInstanceIndex, freeSubnet } from '../domain/private-address.ts'
import type { Database } from './database.ts'
import type { SecretBox } from './secret-box.ts'

/** How a host's agent is reached. */
export interface NodeRecord {
  readonly id: string
  readonly agentUrl: string
  readonly agentSecret: string
  readonly accelerator: NodeHeartbeat['accelerator']
  readonly memoryMb: number
  readonly version: string
  readonly subnet: string
  readonly heartbeatAt: Date
  readonly live: boolean
}

export interface NodesDeps {
  readonly database: Database
  readonly secretBox: SecretBox
}

/** Serialises the assignment of subnets, which happens once per host; the number has no other meaning. */
const subnetLock = 7_070_002

/**
 * Notes that the host is alive, and on its first call gives it a network of its own: `firstSubnet`, or the next one
 * that is free. The assignment never changes afterwards. Throws where all networks are taken.
 */
export async function recordHeartbeat(
  deps: NodesDeps,
  node: { readonly id: string; readonly firstSubnet: string },
  heartbeat: NodeHeartbeat,
): Promise<NodeAssignment> {
  const subnet = (await refreshNode(deps, node.id, heartbeat)) ?? (await addNode(deps, node, heartbeat))
  return { nodeId: node.id, subnet }
}

async function refreshNode(
  deps: NodesDeps,
  nodeId: string,
  heartbeat: NodeHeartbeat,
): Promise<string | undefined> {
  const [node] = await deps.database.rows<{ subnet: string }>({
    name: 'refresh-node',
    text: `update nodes set agent_url = $2, agent_secret = $3, accelerator = $4, memory_mb = $5, version = $6,
             heartbeat_at = now() where id = $1 returning subnet`,
    values: [
      nodeId,
      heartbeat.agentUrl,
      deps.secretBox.seal(heartbeat.agentSecret, secretContext(nodeId)),
      heartbeat.accelerator,
      heartbeat.memoryMb,
      heartbeat.version,
    ],
  })
  return node?.subnet
}

async function addNode(
  deps: NodesDeps,
  node: { readonly id: string; readonly firstSubnet: string },
  heartbeat: NodeHeartbeat,
): Promise<string> {
  return deps.database.em().transactional(async (em) => {
    await em.execute('select pg_advisory_xact_lock(?)', [subnetLock])
    const nodes = await em.execute<{ id: string; subnet: string }[]>('select id, subnet from nodes')
    const added = nodes.find(({ id }) => id === node.id)
    if (added) return added.subnet
    const subnet = freeSubnet(node.firstSubnet, new Set(nodes.map((other) => other.subnet)))
    if (subnet === undefined) throw new Error('every network of 10.64.0.0/10 belongs to a node already')
    await em.execute(
      `insert into nodes (id, agent_url, agent_secret, accelerator, memory_mb, version, subnet, next_address, heartbeat_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, now())`,
      [
        node.id,
        heartbeat.agentUrl,
        deps.secretBox.seal(heartbeat.agentSecret, secretContext(node.id)),
        heartbeat.accelerator,
        heartbeat.memoryMb,
        heartbeat.version,
        subnet,
        firstInstanceIndex,
      ],
      'run',
    )
    return subnet
  })
}

/** Undefined where there is none. */
export async function findNode(deps: NodesDeps, nodeId: string): Promise<NodeRecord | undefined> {
  return (await readNodes(deps)).find(({ id }) => id === nodeId)
}

/** All hosts that were ever heard of, by id. There are tens of them at most. */
export async function listNodes(deps: NodesDeps): Promise<readonly NodeRecord[]> {
  return readNodes(deps)
}

async function readNodes(deps: NodesDeps): Promise<readonly NodeRecord[]> {
  const rows = await deps.database.rows<NodeRecord>({
    name: 'read-nodes',
    text: `select id, agent_url as "agentUrl", agent_secret as "agentSecret", accelerator, memory_mb as "memoryMb",
             version, subnet, heartbeat_at as "heartbeatAt",
             heartbeat_at > now() - make_interval(secs => $1) as live
           from nodes order by id`,
    values: [nodeSilentAfterMs / 1_000],
  })
  return rows.map((row) => ({
    ...row,
    agentSecret: deps.secretBox.open(row.agentSecret, secretContext(row.id)),
  }))
}

function secretContext(nodeId: string): string {
  return `agent-secret/${nodeId}`
}
