import type { Database } from '../database.ts'
import { changedNamesQuery, namesQuery } from '../sql/feed.ts'
import type { FeedRow } from '../sql/feed.ts'
import { readFeed, readRevision } from './feed-read.ts'
import type { FeedRead } from './feed-read.ts'

/** How many blocks are kept. Readers come once in a second or so, or at least every 30 s. */
const maxBlocks = 64
/** How many names all blocks may have together. Readers that need an older one read for themselves. */
const maxNames = 20_000
/** After a pause as long as this nobody is there who needs what changed in it. */
const longestPauseMs = 60_000

/** A name as the rows have it, the same for all hosts. */
interface SharedName {
  readonly uuid: string
  readonly userUuid: string
  readonly name: string
  readonly privateIp: string
  readonly nodeId: string
}

/** A name that changed, or of which the row is deleted. */
interface ChangedName {
  readonly uuid: string
  readonly xid: bigint
  /** The host on which it is or was. */
  readonly nodeId: string
  /** Absent: the row was deleted by an earlier version. */
  readonly userUuid?: string
  /** Absent: it is gone. */
  readonly name?: SharedName
}

/** Where the user of something that changed has instances. */
interface UserHosts {
  /** The hosts, each with the lowest number of a transaction that changed something of the user there. */
  readonly hosts: ReadonlyMap<string, bigint>
  /** All instances that did not change, if the user may be new to one of the hosts. */
  readonly before: readonly (SharedName & { readonly xid: string })[]
}

/** What changed from one revision to the next, and perhaps somewhat more. */
interface NamesBlock {
  readonly serverId: string
  readonly from: bigint
  readonly to: bigint
  readonly changed: readonly ChangedName[]
  /** The users of what changed. */
  readonly users: ReadonlyMap<string, UserHosts>
  /** How many names it has. */
  readonly size: number
}

/**
 * The changes of names that all hosts are told, read once for all of them. Each host has a reader at this
 * process, and nearly every change of a name wakes all of them; with a query for each, hundreds of hosts
 * would keep PostgreSQL busy. What a host is told is what `namesQuery` would tell it.
 *
 * The changes are kept in blocks, from one revision to the next. A reader gets those since its own
 * revision. If they are not kept any more, or the reader has no revision, it reads for itself.
 */
export class SharedNames {
  readonly #database: Database
  readonly #nowMs: () => number
  #blocks: readonly NamesBlock[] = []
  #revision: string | undefined
  #readAtMs = 0
  #underWay: Promise<void> | undefined
  #following: Promise<void> | undefined

  constructor(database: Database, nowMs: () => number = () => performance.now()) {
    this.#database = database
    this.#nowMs = nowMs
  }

  /** What a host has to be told since the revision, as `readFeed` returns it. */
  async read(nodeId: string, since: string | undefined): Promise<FeedRead> {
    const known = readRevision(since ?? '')
    if (known !== undefined) {
      await this.#readOn()
      const rows = this.#rowsSince(nodeId, known.serverId, BigInt(known.xid))
      if (rows !== undefined) return { snapshot: false, revision: this.#revision ?? '', rows }
    }
    return await readFeed(this.#database, namesQuery(nodeId), since)
  }

  /** Resolves after a read that began after this call. All who call during a read share the next one. */
  async #readOn(): Promise<void> {
    this.#following ??= this.#readAfter(this.#underWay)
    await this.#following
  }

  async #readAfter(earlier: Promise<void> | undefined): Promise<void> {
    await earlier?.catch(() => undefined)
    this.#underWay = this.#following
    this.#following = undefined
    await this.#readBlock()
  }

  async #readBlock(): Promise<void> {
    const nowMs = this.#nowMs()
    const since = nowMs - this.#readAtMs > longestPauseMs ? undefined : this.#revision
    const { snapshot, revision, rows } = await readFeed(this.#database, changedNamesQuery, since)
    this.#readAtMs = nowMs
    this.#revision = revision
    // A snapshot is no continuation of the blocks: there was no revision, or the server was started again.
    if (snapshot || since === undefined) this.#blocks = []
    else this.#keep(blockOf(rows, { since, revision }))
  }

  #keep(block: NamesBlock): void {
    // A transaction that is under way holds the revision where it is. Then the new block has all of the
    // last one.
    const before = this.#blocks.filter(({ from }) => from < block.from)
    let room = maxNames - block.size
    const kept = before.toReversed().filter(({ size }) => (room -= size) >= 0)
    this.#blocks = block.size > maxNames ? [] : [...kept.toReversed(), block].slice(-maxBlocks)
  }

  /** Undefined if the blocks do not reach back to the revision. */
  #rowsSince(nodeId: string, serverId: string, xid: bigint): readonly FeedRow[] | undefined {
    const last = this.#blocks.at(-1)
    const first = this.#blocks[0]
    if (first === undefined || first.serverId !== serverId || xid < first.from) return undefined
    const unknown = this.#blocks.filter((block) => block.to > xid || block === last)
    return rowsFor(nodeId, unknown, xid)
  }
}

function blockOf(
  rows: readonly FeedRow[],
  { since, revision }: { readonly since: string; readonly revision: string },
): NamesBlock {
  const [from, to] = [readRevision(since), readRevision(revision)]
  const told = rows.filter(({ kind }) => kind !== 'user')
  const users = new Map(
    rows.filter(({ kind }) => kind === 'user').map(({ id, body }) => [id, userHosts(body ?? {})]),
  )
  return {
    serverId: to?.serverId ?? '',
    from: BigInt(from?.xid ?? 0),
    to: BigInt(to?.xid ?? 0),
    changed: told.map(changedName),
    users,
    size: told.length + [...users.values()].reduce((sum, { before }) => sum + before.length, 0),
  }
}

function changedName({ kind, id, xid, body }: FeedRow): ChangedName {
  const { isDeleted, ...name } = body as unknown as SharedName & { readonly isDeleted?: boolean }
  const { nodeId, userUuid } = name
  const isThere = kind === 'name' && isDeleted !== true
  return { uuid: id, xid: BigInt(xid), nodeId, userUuid, ...(isThere && { name }) }
}

function userHosts(body: NonNullable<FeedRow['body']>): UserHosts {
  const { hosts = {}, before = [] } = body as unknown as {
    readonly hosts?: Readonly<Record<string, string>>
    readonly before?: UserHosts['before']
  }
  return { hosts: new Map(Object.entries(hosts).map(([id, xid]) => [id, BigInt(xid)])), before }
}

/**
 * What a host has to be told of these blocks if it knows everything from before `xid`. A change concerns it
 * if it is or was on the host, or if its user has an instance there now. A user of whom the host has
 * nothing older than `xid` may be new to it, and is told whole.
 */
function rowsFor(nodeId: string, blocks: readonly NamesBlock[], xid: bigint): readonly FeedRow[] {
  const users = new Map(blocks.flatMap((block) => [...block.users]))
  const since = (userUuid = '') => users.get(userUuid)?.hosts.get(nodeId)
  const isAdded = (userUuid?: string) => (since(userUuid) ?? 0n) >= xid
  const rows = new Map<string, FeedRow>()
  for (const block of blocks) {
    for (const [uuid, { before }] of block.users) {
      const elsewhere = isAdded(uuid) ? before.filter((one) => one.nodeId !== nodeId) : []
      for (const { xid: changed, ...name } of elsewhere) rows.set(name.uuid, nameRow(changed, name, nodeId))
    }
    for (const one of block.changed) {
      const isConcerned = one.nodeId === nodeId || since(one.userUuid) !== undefined
      if (isConcerned && (one.xid >= xid || isAdded(one.userUuid))) rows.set(one.uuid, rowOf(one, nodeId))
    }
  }
  return [...rows.values()]
}

function rowOf({ uuid, xid, name }: ChangedName, reader: string): FeedRow {
  const written = String(xid)
  return name ? nameRow(written, name, reader) : { kind: 'name', id: uuid, xid: written, body: null }
}

function nameRow(xid: string, { nodeId, ...name }: SharedName, reader: string): FeedRow {
  const body = { ...name, ...(nodeId !== reader && { isElsewhere: true }) }
  return { kind: 'name', id: name.uuid, xid, body }
}
