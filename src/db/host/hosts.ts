import type { EntityManager } from '@mikro-orm/postgresql'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { NodeAssignment, NodeHeartbeat } from '../../domain/host/api-protocol.ts'
import { firstInstanceIndex, freeSubnet } from '../../domain/host/private-address.ts'
import type { Database } from '../database.ts'
import { sameSecret } from '../same-secret.ts'
import { SecretBoxError } from '../secret-box.ts'
import type { SecretBox } from '../secret-box.ts'

/** How a host's agent is reached. */
export interface NodeRecord {
  readonly id: string
  readonly agentUrl: string
  readonly agentSecret: string
  readonly accelerator: NodeHeartbeat['accelerator']
  readonly memoryMb: number
  /** Room for volumes in all. */
  readonly volumeMb: number
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
 * Stands in place of an agent's secret that an administrator has let go: whoever joins under the id next
 * brings the new one. Nothing else is an empty text, because what is sealed never is.
 */
export const releasedSecret = ''

interface StoredNode {
  readonly subnet: string
  readonly agent_secret: string
}

/**
 * Notes that the host is alive, and on its first call gives it a network of its own: `firstSubnet`, or the
 * next one that is free. The assignment never changes afterwards, and the id belongs to the agent with this
 * secret from then on: undefined, and nothing changed, where the secret is not that of the host with this id.
 * Throws where all networks are taken.
 */
export async function recordHeartbeat(
  deps: NodesDeps,
  node: { readonly id: string; readonly firstSubnet: string },
  heartbeat: NodeHeartbeat,
): Promise<NodeAssignment | undefined> {
  return deps.database.em().transactional(async (em) => {
    const sealed = deps.secretBox.seal(heartbeat.agentSecret, secretContext(node.id))
    const stored = (await storedNode(em, node.id)) ?? (await addNode(em, node, { heartbeat, sealed }))
    const isReleased = stored.agent_secret === releasedSecret
    if (
      !isReleased &&
      !isSealed(deps, node.id, { sealed: stored.agent_secret, secret: heartbeat.agentSecret })
    )
      return undefined
    const { agentUrl, accelerator, memoryMb, volumeMb, imageBytes, version } = heartbeat
    const secret = isReleased ? sealed : stored.agent_secret
    await em.execute(
      `update nodes set agent_url = ?, agent_secret = ?, accelerator = ?, memory_mb = ?, volume_mb = ?, image_bytes = ?, version = ?,
         heard_since = case when heartbeat_at > now() - make_interval(secs => ?) then heard_since else now() end,
         heartbeat_at = now() where id = ?`,
      [
        agentUrl,
        secret,
        accelerator,
        memoryMb,
        volumeMb,
        JSON.stringify(imageBytes),
        version,
        nodeSilentAfterMs / 1_000,
        node.id,
      ],
      'run',
    )
    return { nodeId: node.id, subnet: stored.subnet }
  })
}

/** Locked, so that of several that join under a released id one is first. */
async function storedNode(em: EntityManager, nodeId: string): Promise<StoredNode | undefined> {
  const text = 'select subnet, agent_secret from nodes where id = ? for update'
  const [stored] = await em.execute<StoredNode[]>(text, [nodeId])
  return stored
}

/** Answers what there is where another call was faster. */
async function addNode(
  em: EntityManager,
  node: { readonly id: string; readonly firstSubnet: string },
  { heartbeat, sealed }: { readonly heartbeat: NodeHeartbeat; readonly sealed: string },
): Promise<StoredNode> {
  await em.execute('select pg_advisory_xact_lock(?)', [subnetLock])
  const added = await storedNode(em, node.id)
  if (added) return added
  const nodes = await em.execute<{ subnet: string }[]>('select subnet from nodes')
  const subnet = freeSubnet(node.firstSubnet, new Set(nodes.map((other) => other.subnet)))
  if (subnet === undefined) throw new Error('every network of 10.64.0.0/10 belongs to a node already')
  const { agentUrl, accelerator, memoryMb, volumeMb, version } = heartbeat
  await em.execute(
    `insert into nodes (id, agent_url, agent_secret, accelerator, memory_mb, volume_mb, version, subnet, next_address,
       heartbeat_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, now())`,
    [node.id, agentUrl, sealed, accelerator, memoryMb, volumeMb, version, subnet, firstInstanceIndex],
    'run',
  )
  return { subnet, agent_secret: sealed }
}

/** Whether this is the secret that the host with this id joined with. */
export async function isNodeSecret(deps: NodesDeps, nodeId: string, secret: string): Promise<boolean> {
  const [stored] = await deps.database.rows<Pick<StoredNode, 'agent_secret'>>({
    name: 'read-node-secret',
    text: 'select agent_secret from nodes where id = $1',
    values: [nodeId],
  })
  return stored !== undefined && isSealed(deps, nodeId, { sealed: stored.agent_secret, secret })
}

/**
 * False as well for what was sealed with a key that is lost: an administrator has to release the host then.
 */
function isSealed(
  { secretBox }: NodesDeps,
  nodeId: string,
  { sealed, secret }: { readonly sealed: string; readonly secret: string },
): boolean {
  try {
    return sameSecret(secretBox.open(sealed, secretContext(nodeId)), secret)
  } catch (error) {
    if (error instanceof SecretBoxError) return false
    throw error
  }
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
             volume_mb as "volumeMb", version, subnet, heartbeat_at as "heartbeatAt",
             heartbeat_at > now() - make_interval(secs => $1) as live
           from nodes order by id`,
    values: [nodeSilentAfterMs / 1_000],
  })
  return rows.map((row) => ({
    ...row,
    agentSecret:
      row.agentSecret === releasedSecret
        ? releasedSecret
        : deps.secretBox.open(row.agentSecret, secretContext(row.id)),
  }))
}

export function secretContext(nodeId: string): string {
  return `agent-secret/${nodeId}`
}
