import { setTimeout as delay } from 'node:timers/promises'
import { createApiClient } from '../test/support/api-client.ts'
import type { ApiClient } from '../test/support/api-client.ts'
import { familyOf } from '../test/support/processes.ts'
import type { Stack } from '../test/support/stack.ts'
import { openStackInside } from '../test/support/stack-inside.ts'
import { until } from '../test/support/until.ts'
import { followFeedBytes, readFeedOnce } from './hosts/feed-bytes.ts'
import type { HostsOptions } from './hosts/load-options.ts'
import { describeTimes, startPacedReads } from './hosts/paced-reads.ts'
import type { ReadTimes } from './hosts/paced-reads.ts'
import { startPretendedHosts } from './hosts/pretended-hosts.ts'
import type { PretendedHosts } from './hosts/pretended-hosts.ts'
import { withProcessorShares } from './hosts/processor-shares.ts'
import type { ProductionTemporal } from './hosts/production-temporal.ts'
import { sampleSessions } from './hosts/session-samples.ts'
import type { SessionMeans } from './hosts/session-samples.ts'
import { residentBytes } from './memory.ts'
import { inMb, inMs, printSection } from './report.ts'
import type { Finding } from './report.ts'
import { seedAccount } from './seed.ts'

/** Creates of one account run one after the other, so they are spread over several. */
const accounts = 16
const instancesPerService = 50
const settleMs = 5_000
const measuredMs = 15_000
const joinLimitMs = 60_000
const waitMs = 60_000
const parts = ['postgres', 'temporal', 'registry', 'api', 'worker', 'agent', 'gateway']

interface Bench {
  readonly stack: Stack
  readonly hosts: PretendedHosts
  readonly options: HostsOptions
  readonly temporal: ProductionTemporal | undefined
  readonly accounts: readonly { readonly api: ApiClient; readonly token: string }[]
}

/** What was measured over some time. */
interface Phase {
  readonly tookMs: number
  readonly beatsMs: readonly number[]
  readonly reads: ReadTimes
  readonly shares: ReadonlyMap<string, number>
  readonly sessions: SessionMeans
}

/**
 * Measures one control plane with many hosts: at rest without instances, while instances are created through
 * the API, and at rest with them. The hosts are pretended (`hosts/pretended-host.ts`).
 */
export async function benchHosts(
  stack: Stack,
  image: string,
  { options, temporal }: { readonly options: HostsOptions; readonly temporal?: ProductionTemporal },
): Promise<void> {
  // The stack's own host would take most instances, because it pretends to have more memory.
  await stack.api.one('cordonHosts', { object: 'local' })
  const made = await Promise.all(
    Array.from({ length: accounts }, (_, index) =>
      seedAccount(stack, { name: `crowd-${index + 1}`, image, instances: 0, tokens: 1 }),
    ),
  )
  const tokens = made.map((account) => account.tokens[0] ?? '')
  const hosts = await startPretendedHosts(stack, { count: options.hosts, link: options.link })
  const clients = tokens.map((token) => ({ token, api: createApiClient({ url: stack.apiUrl, token }) }))
  try {
    await measure({ stack, hosts, options, temporal, accounts: clients })
  } finally {
    await Promise.all(clients.map(({ api }) => api.close()))
    await hosts.stop()
  }
}

async function measure(bench: Bench): Promise<void> {
  const { stack, options } = bench
  const live = async () => {
    const all = await stack.api.call('getHosts')
    return all.filter(({ state }) => state === 'live').length > options.hosts
  }
  await until('all pretended hosts are live', live, { limitMs: joinLimitMs })
  const readUuid = (await create(bench, 0)).uuid
  await delay(settleMs)
  const before = await phase(bench, readUuid, () => delay(measuredMs))
  printPhase(`${options.hosts} hosts without instances, at rest`, bench, before)

  const feed = await followFeedBytes(stack)
  await delay(settleMs)
  const feedBefore = feed.bytes
  let created = 0
  const creating = await phase(bench, readUuid, async () => {
    created = await createAll(bench)
  })
  await delay(settleMs)
  const feedBytes = feed.bytes - feedBefore
  await feed.stop()
  const perSecond = (created * 1_000) / creating.tookMs
  printPhase(
    `${created} instances created on ${options.hosts} hosts by ${options.link}, ${options.atOnce} at once`,
    bench,
    creating,
    [
      { what: 'create until running', figure: `${perSecond.toFixed(1)}/s`, aim: '80/s' },
      { what: 'feed to a gateway, per instance', figure: `${(feedBytes / created).toFixed(0)} bytes` },
      { what: 'processor time per create', figure: costOf(creating, created) },
      { what: 'what bounds it', figure: boundOf(creating) },
    ],
  )

  const after = await phase(bench, readUuid, () => delay(measuredMs))
  const whole = await readFeedOnce(stack)
  printPhase(`${options.hosts} hosts with ${created} running instances, at rest`, bench, after, [
    {
      what: 'feed to a gateway that starts',
      figure: `${(whole.bytes / 1_024).toFixed(0)} KiB in ${inMs(whole.tookMs)}`,
    },
  ])
}

async function phase(bench: Bench, uuid: string, work: () => Promise<unknown>): Promise<Phase> {
  const { stack, hosts } = bench
  const inside = await openStackInside(stack)
  try {
    await hosts.takeBeats()
    const sessions = sampleSessions(inside.database)
    const reads = startPacedReads({ url: stack.apiUrl, token: bench.accounts[0]?.token ?? '', uuid })
    const { tookMs, shares } = await withProcessorShares(() => pidsOf(bench), work)
    return {
      tookMs,
      shares,
      reads: await reads.stop(),
      sessions: await sessions.stop(),
      beatsMs: await hosts.takeBeats(),
    }
  } finally {
    await inside.close()
  }
}

/** Creates instances until there are enough or the time is over. Returns how many there are. */
async function createAll(bench: Bench): Promise<number> {
  const { instances, seconds, atOnce } = bench.options
  const untilMs = performance.now() + seconds * 1_000
  let next = 1
  let created = 0
  const lane = async () => {
    while (next < instances && performance.now() < untilMs) {
      await create(bench, next++)
      created += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return created
}

/** Creates instance number `index` with a service that it shares with others of its account. */
async function create(bench: Bench, index: number) {
  const account = bench.accounts[index % accounts]
  if (account === undefined) throw new Error('there is no account')
  const service = Math.floor(index / accounts / instancesPerService)
  const isFirst = Math.floor(index / accounts) % instancesPerService === 0
  const name = `crowd-${service}`
  const made = { name, services: [{ port: 443, destination_port: 8080, handlers: ['tls', 'http'] }] }
  if (isFirst) await account.api.one('createServices', { body: made })
  return await account.api.one('createInstances', {
    body: {
      image: 'hello',
      memory_mb: 128,
      autostart: true,
      wait_timeout_ms: waitMs,
      service_group: { name },
    },
  })
}

/** The processes of each part. Those of the benchmark itself count as `hosts and clients`. */
function pidsOf({ stack, hosts, temporal }: Bench): Readonly<Record<string, readonly number[]>> {
  const embedded = temporal === undefined ? parts : parts.filter((name) => name !== 'temporal')
  return {
    ...Object.fromEntries(embedded.map((name) => [name, [stack.pidOf(name)]])),
    ...(temporal && { temporal: [temporal.pids.temporal], "temporal's postgres": [temporal.pids.postgres] }),
    'pretended hosts': hosts.pids,
  }
}

function printPhase(title: string, bench: Bench, seen: Phase, more: readonly Finding[] = []): void {
  const pids = pidsOf(bench)
  const ofParts = [...seen.shares].map(([name, share]) => ({
    what: name,
    figure: `${inShare(share)} of a core, ${inMb(memoryOf(pids[name] ?? []))}`,
  }))
  const { running, waitingForLocks, waitingForDisk, idleInTransaction } = seen.sessions
  printSection({
    title,
    findings: [
      ...more,
      { what: 'heartbeats', figure: describeTimes(seen.beatsMs) },
      { what: 'get an instance', figure: describeTimes(seen.reads.getMs) },
      { what: 'list 100 instances', figure: describeTimes(seen.reads.listMs) },
      ...ofParts,
      {
        what: 'sessions in PostgreSQL, mean',
        figure:
          `${running.toFixed(1)} run, ${waitingForLocks.toFixed(1)} wait for locks, ` +
          `${waitingForDisk.toFixed(1)} for the disk, ${idleInTransaction.toFixed(1)} for their client`,
      },
    ],
  })
}

function memoryOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (familyOf(pid).length > 0 ? residentBytes(pid) : 0), 0)
}

/** What each part needs for a create. This holds on a busy machine, too, where creates per second do not. */
function costOf({ shares, tookMs }: Phase, created: number): string {
  const each = [...shares].map(([name, share]): [string, number] => [name, (share * tookMs) / created])
  const all = each.reduce((sum, [, ms]) => sum + ms, 0)
  const named = each.filter(([, ms]) => ms >= leastShownMs).map(([name, ms]) => `${name} ${inMs(ms)}`)
  return `${inMs(all)}: ${named.join(', ')}`
}

const leastShownMs = 1

/**
 * Names what holds creates up. If on average at least two sessions wait for locks, that is locks, because
 * those creates do nothing else. Otherwise it is the part that uses most of the processors.
 */
function boundOf({ shares, sessions }: Phase): string {
  const all = [...shares].toSorted(([, one], [, other]) => other - one)
  const [name = '', share = 0] = all[0] ?? []
  const sum = all.reduce((total, [, each]) => total + each, 0)
  const busiest = `${name} uses ${inShare(share)} of a core, of ${inShare(sum)} that all parts use`
  return sessions.waitingForLocks >= lockedSessions ? `locks in PostgreSQL; ${busiest}` : busiest
}

const lockedSessions = 2

function inShare(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
