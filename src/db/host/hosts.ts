import type { ExpressionBuilder } from 'kysely'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import type { NodeAssignment, NodeHeartbeat } from '../../domain/host/api-protocol.ts'
import { agentUrlFromElsewhere } from '../../domain/host/agent-url.ts'
import { backNews } from '../../domain/host/news.ts'
import { upgradeNews } from '../../domain/host/upgrade.ts'
import type { HostUpgrade, UpgradeState } from '../../domain/host/upgrade.ts'
import type { HostRole } from '../../domain/host/role.ts'
import { firstInstanceIndex, freeSubnet } from '../../domain/host/private-address.ts'
import type { Database } from '../database.ts'
import { takeLock } from '../locks.ts'
import { json } from '../postgres-client.ts'
import type { Db, Row, Tables } from '../schema/tables.ts'
import { ago, now } from '../sql/time.ts'
import { sameSecret } from '../same-secret.ts'
import { SecretBoxError } from '../secret-box.ts'
import type { SecretBox } from '../secret-box.ts'
import { isLive } from './live.ts'
import { tellOfHost } from './events.ts'
import type { KnownAgents } from './known-agents.ts'

/** A host, and how its agent is reached. */
export interface NodeRecord extends Pick<Row<'nodes'>, (typeof recordColumns)[number]> {
  readonly live: boolean
}

const recordColumns = [
  'id',
  'agentUrl',
  'agentSecret',
  'accelerator',
  'memoryMb',
  'volumeMb',
  'version',
  'subnet',
  'heartbeatAt',
] as const

export interface NodesDeps {
  readonly database: Database
  readonly secretBox: SecretBox
}

interface HeartbeatDeps extends NodesDeps {
  readonly known?: KnownAgents
  /** Whether administrators may be told now of another step of the host's upgrade. Absent: always. */
  readonly mayTellUpgrade?: (hostId: string) => boolean
}

/** The lock under which hosts get their subnets one after the other. The number has no other meaning. */
const subnetLock = 7_070_002

/**
 * Stands for the agent's secret after an administrator released the host: the next agent that joins under
 * the id brings the new secret. A sealed secret is never empty, so the two can not be confused.
 */
export const releasedSecret = ''

interface NewNode {
  readonly id: string
  readonly firstSubnet: string
}

type HeardNode = NewNode & { readonly joined?: boolean }

type StoredNode = Pick<Row<'nodes'>, 'subnet' | 'agentSecret' | 'loss' | 'lostAt' | 'removedAt' | 'upgrade'>

/**
 * Notes that the host is alive. The first call gives the host a network of its own: `firstSubnet`, or the
 * next one that no host has and that the host's machine does not use otherwise. The network never changes
 * afterwards, and the id belongs to the agent with this secret from then on. Returns undefined and changes
 * nothing if the host with this id has another secret, or if it was removed as lost. Throws if all networks
 * are taken. With `joined`, the heartbeat is that of a machine that joined; one that was removed meanwhile is
 * refused, too. One that has a role is cordoned from its first heartbeat on. With `known`, the heartbeats
 * after the first need one statement each.
 */
export async function recordHeartbeat(
  deps: HeartbeatDeps,
  node: HeardNode,
  heartbeat: NodeHeartbeat,
): Promise<NodeAssignment | undefined> {
  const sealed = deps.known?.sealedOf(node.id, heartbeat.agentSecret)
  if (sealed !== undefined) {
    const assigned = await hearKnown(deps.database, { node, sealed }, heartbeat)
    if (assigned !== undefined) return assigned
    deps.known?.forget(node.id)
  }
  return await hearAny(deps, node, heartbeat)
}

/**
 * Notes a heartbeat if the row still has this sealed secret. Otherwise, or if the host is lost, or joined and
 * was removed, returns undefined and changes nothing.
 */
async function hearKnown(
  { db }: Database,
  { node, sealed }: { readonly node: HeardNode; readonly sealed: string },
  heartbeat: NodeHeartbeat,
): Promise<NodeAssignment | undefined> {
  const joined = db.selectFrom('joinedHosts').select('hostId').where('hostId', '=', node.id)
  const stored = await db
    .updateTable('nodes')
    .set((eb) => heardColumns(eb, heartbeat))
    .where('id', '=', node.id)
    .where('agentSecret', '=', sealed)
    .where('removedAt', 'is', null)
    // That a lost host has cleared up, or has another term, has to outlive a crash of the server. So both
    // take the other way.
    .where('lostAt', 'is', null)
    .where('termMs', 'is not distinct from', heartbeat.termMs ?? null)
    // Another step of an upgrade may have to be told.
    .where((eb) => {
      const told = eb.cast<HostUpgrade | null>(eb.val(upgradeColumn(heartbeat)), 'jsonb')
      return eb('upgrade', 'is not distinct from', told)
    })
    .$if(node.joined === true, (query) => query.where((eb) => eb.exists(joined)))
    .returning(['subnet', 'loss'])
    // The commit waits for no disk. If the server crashes within a second, the heartbeat is lost; but the
    // next one is due by then and has all of it, except what only full heartbeats have.
    .$if(heartbeat.imageBytes === undefined, (query) => query.returning(commitsLate))
    .executeTakeFirst()
  return stored && { nodeId: node.id, subnet: stored.subnet, loss: stored.loss }
}

/** Has the statement's own transaction commit without a wait for the disk. */
function commitsLate(eb: ExpressionBuilder<Tables, 'nodes'>) {
  const setting = [eb.val('synchronous_commit'), eb.val('off'), eb.lit(true)]
  return eb.fn<string>('set_config', setting).as('commits')
}

async function hearAny(
  deps: HeartbeatDeps,
  node: HeardNode,
  heartbeat: NodeHeartbeat,
): Promise<NodeAssignment | undefined> {
  const { agentSecret: secret } = heartbeat
  const heard = await deps.database.db.transaction().execute(async (db) => {
    const roles = node.joined === true ? await keptRoles(db, node.id) : []
    if (roles === undefined) return undefined
    const sealed = deps.secretBox.seal(secret, secretContext(node.id))
    const stored =
      (await storedNode(db, node.id)) ??
      (await addNode(db, node, { heartbeat, sealed, isCordoned: roles.length > 0 }))
    if (stored.removedAt !== null) return undefined
    const isReleased = stored.agentSecret === releasedSecret
    if (!isReleased && !isSealed(deps, node.id, { sealed: stored.agentSecret, secret })) return undefined
    const agentSecret = isReleased ? sealed : stored.agentSecret
    const { upgrade } = heartbeat
    const news = upgrade && upgradeNews(node.id, stored.upgrade ?? undefined, upgrade)
    // If the event has to wait, the row keeps the old state, so a later heartbeat causes the event.
    const mayTell = news === undefined || (deps.mayTellUpgrade?.(node.id) ?? true)
    const told = mayTell ? { upgrade: upgradeColumn(heartbeat) } : {}
    await db
      .updateTable('nodes')
      .set((eb) => ({ agentSecret, ...told, ...heardColumns(eb, heartbeat) }))
      .where('id', '=', node.id)
      .execute()
    const isBack = stored.lostAt !== null && stored.loss === heartbeat.loss
    await tellOfHost(db, node.id, isBack ? backNews(node.id) : undefined)
    if (mayTell) await tellOfHost(db, node.id, news)
    return { agentSecret, subnet: stored.subnet, loss: stored.loss }
  })
  if (heard === undefined) return undefined
  deps.known?.remember(node.id, { secret, sealed: heard.agentSecret })
  return { nodeId: node.id, subnet: heard.subnet, loss: heard.loss }
}

/**
 * The key of a host in the mesh, unless another host told it first. All hosts know the keys of all, and a
 * hostile one could otherwise take another's place by telling its key.
 */
function ownKey(eb: ExpressionBuilder<Tables, 'nodes'>, key: string) {
  const others = eb
    .selectFrom('nodes as other')
    .select('other.id')
    .where('other.meshKey', '=', key)
    .whereRef('other.id', '<>', 'nodes.id')
  return eb
    .case()
    .when('nodes.meshKey', '=', key)
    .then(key)
    .when(eb.exists(others))
    .then(null)
    .else(key)
    .end()
}

function upgradeColumn({ upgrade }: NodeHeartbeat) {
  return upgrade === undefined ? null : json(upgrade)
}

/** What every heartbeat writes. */
function heardColumns(eb: ExpressionBuilder<Tables, 'nodes'>, heartbeat: NodeHeartbeat) {
  const { agentUrl, accelerator, memoryMb, cpus = null, volumeMb, imageBytes, version, mesh } = heartbeat
  const { termMs = null, loss } = heartbeat
  return {
    agentUrl,
    accelerator,
    memoryMb,
    cpus,
    volumeMb,
    ...(imageBytes !== undefined && { imageBytes: json(imageBytes) }),
    version,
    meshKey: mesh === undefined ? null : ownKey(eb, mesh.publicKey),
    meshEndpoint: mesh?.endpoint ?? null,
    heardSince: eb
      .case()
      .when('heartbeatAt', '>', ago(nodeSilentAfterMs))
      .then(eb.ref('heardSince'))
      .else(now)
      .end(),
    heartbeatAt: now,
    termMs,
    // A lost host has cleared up once it tells the number of its loss. One that tells none stays lost.
    ...(loss !== undefined && {
      lostAt: eb.case().when('loss', '=', loss).then(null).else(eb.ref('lostAt')).end(),
    }),
  }
}

/**
 * The roles of a host that joined, which is not removed before the transaction ends. Undefined if it is not
 * among those that joined.
 */
async function keptRoles(db: Db, hostId: string): Promise<readonly HostRole[] | undefined> {
  const found = db.selectFrom('joinedHosts').select('roles').where('hostId', '=', hostId)
  return (await found.forShare().executeTakeFirst())?.roles
}

/** Reads and locks the host's row, so that only the first of several agents gets a released id. */
async function storedNode(db: Db, nodeId: string): Promise<StoredNode | undefined> {
  return db
    .selectFrom('nodes')
    .select(['subnet', 'agentSecret', 'loss', 'lostAt', 'removedAt', 'upgrade'])
    .where('id', '=', nodeId)
    .forUpdate()
    .executeTakeFirst()
}

/** Adds a host. If another call has added it meanwhile, returns the row that the other call wrote. */
async function addNode(
  db: Db,
  node: NewNode,
  first: { readonly heartbeat: NodeHeartbeat; readonly sealed: string; readonly isCordoned: boolean },
): Promise<StoredNode> {
  const { heartbeat, sealed, isCordoned } = first
  await takeLock(db, subnetLock)
  const added = await storedNode(db, node.id)
  if (added) return added
  const nodes = await db.selectFrom('nodes').select('subnet').execute()
  // An instance that moved keeps its address, even after the host with that network was removed.
  const moved = await db.selectFrom('instances').select('privateIp').where('seatIp', 'is not', null).execute()
  const subnet = freeSubnet(node.firstSubnet, [
    ...nodes.map((other) => other.subnet),
    ...moved.map(({ privateIp }) => `${privateIp}/32`),
    ...heartbeat.occupiedSubnets,
  ])
  if (subnet === undefined)
    throw new Error('every network of 10.64.0.0/10 belongs to a node already, or is in use on this host')
  const { agentUrl, accelerator, memoryMb, cpus = null, volumeMb, version } = heartbeat
  const { id } = node
  const given = { id, agentUrl, agentSecret: sealed, accelerator, memoryMb, cpus, volumeMb, version, subnet }
  await db
    .insertInto('nodes')
    .values({
      ...given,
      nextAddress: firstInstanceIndex,
      heartbeatAt: now,
      ...(isCordoned && { cordonedAt: now }),
    })
    .execute()
  return { subnet, agentSecret: sealed, loss: 0, lostAt: null, removedAt: null, upgrade: null }
}

/** Whether this is the secret with which the host with this id joined. */
export async function isNodeSecret(deps: NodesDeps, nodeId: string, secret: string): Promise<boolean> {
  const stored = await deps.database.db
    .selectFrom('nodes')
    .select('agentSecret')
    .where('id', '=', nodeId)
    .where('removedAt', 'is', null)
    .executeTakeFirst()
  return stored !== undefined && isSealed(deps, nodeId, { sealed: stored.agentSecret, secret })
}

/**
 * Whether a sealed text holds this secret. Also false if the text can not be opened because its key is lost;
 * then an administrator has to release the host.
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

/** Undefined if there is no such host. */
export async function findNode(deps: NodesDeps, nodeId: string): Promise<NodeRecord | undefined> {
  return (await readNodes(deps)).find(({ id }) => id === nodeId)
}

/**
 * All hosts that ever joined, ordered by id. The reader `isElsewhere` if it is on a machine that joined: it
 * reaches the agent of the control plane's machine at another address.
 */
export async function listNodes(
  deps: NodesDeps,
  { isElsewhere = false }: { readonly isElsewhere?: boolean } = {},
): Promise<readonly NodeRecord[]> {
  const nodes = await readNodes(deps)
  return isElsewhere ? nodes.map((node) => ({ ...node, agentUrl: agentUrlFromElsewhere(node) })) : nodes
}

async function readNodes(deps: NodesDeps): Promise<readonly NodeRecord[]> {
  const rows = await deps.database.db
    .selectFrom('nodes')
    .select(recordColumns)
    .select((eb) => isLive(eb).$castTo<boolean>().as('live'))
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    ...row,
    agentSecret:
      row.agentSecret === releasedSecret
        ? releasedSecret
        : deps.secretBox.open(row.agentSecret, secretContext(row.id)),
  }))
}

/** How long ago the API heard of a host, and whether and how often it was lost. */
export interface HeartbeatAge {
  readonly id: string
  readonly ageSeconds: number
  readonly isLost: boolean
  readonly losses: number
  /** How its upgrade goes, or went last. Null: none was told. */
  readonly upgradeState: UpgradeState | null
}

/** All hosts by id, without their secrets. */
export async function heartbeatAges({ db }: Database): Promise<readonly HeartbeatAge[]> {
  const rows = await db
    .selectFrom('nodes')
    .select(['id', 'heartbeatAt', 'lostAt', 'loss', 'upgrade', now.as('readAt')])
    .orderBy('id')
    .execute()
  return rows.map(({ id, heartbeatAt, lostAt, loss, upgrade, readAt }) => ({
    id,
    ageSeconds: (readAt.getTime() - heartbeatAt.getTime()) / 1_000,
    isLost: lostAt !== null,
    losses: loss,
    upgradeState: upgrade?.state ?? null,
  }))
}

export function secretContext(nodeId: string): string {
  return `agent-secret/${nodeId}`
}
