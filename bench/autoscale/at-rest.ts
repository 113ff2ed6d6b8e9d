import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createApiClient } from '../../test/support/api-client.ts'
import type { ApiClient } from '../../test/support/api-client.ts'
import { openStackInside } from '../../test/support/stack-inside.ts'
import type { StackInside } from '../../test/support/stack-inside.ts'
import type { Stack } from '../../test/support/stack.ts'
import { until } from '../../test/support/until.ts'
import { autoscaleWorkflowId } from '../../workflows/autoscale/messages.ts'
import { processorSecondsOfEach } from '../gateway/processor-time.ts'
import { proportionalBytes } from '../memory.ts'
import { inMb, inMs } from '../report.ts'
import type { Finding, Section } from '../report.ts'
import { seedAccount } from '../seed.ts'

const services = 1_000
const atOnce = 16
const minuteMs = 60_000
/**
 * The pause after a thousand starts, and after a thousand watches began. It is longer than a heartbeat
 * timeout.
 */
const settleMs = 25_000
const limitMs = 240_000
const waitMs = 60_000
const parts = ['worker', 'temporal', 'postgres', 'agent', 'api'] as const
type Part = (typeof parts)[number]

/** Policies under which nothing happens, because an idle VM uses 10 thousandths of a core. */
const policies = [
  {
    name: 'load',
    type: 'step',
    steps: [
      { upper_bound: 500, adjustment: 0 },
      { lower_bound: 500, adjustment: 1 },
    ],
  },
]

/** Measures what it costs to watch many idle services, against the same instances without autoscale. */
export async function benchAtRest(stack: Stack, image: string): Promise<Section> {
  const { tokens } = await seedAccount(stack, { name: 'resting', image, instances: 0, tokens: 1 })
  const api = createApiClient({ url: stack.apiUrl, token: tokens[0] ?? '' })
  const inside = await openStackInside(stack)
  const port = metricsPortOf(stack.pidOf('worker'))
  const metric = async (name: string): Promise<number> => await readMetric(port, name)
  try {
    const published = await publishAll(api)
    await delay(settleMs)
    const without = await measure(stack, metric)
    await inLanes(published, async ({ service, instance }) => {
      await api.one('createAutoscale', {
        object: service,
        body: { master: { uuid: instance }, max_size: 2, policies },
      })
    })
    await until(
      'all are watched',
      async () => (await metric('roost_autoscale_watched_services')) === services,
      { limitMs },
    )
    await delay(settleMs)
    const before = await historyEvents(inside, published)
    const resting = await measure(stack, metric)
    const grown = (await historyEvents(inside, published)) - before
    return {
      title: `autoscale: ${services} services at rest for ${minuteMs / 1_000} s, with the fake VMM`,
      findings: findings(without, resting, grown),
    }
  } finally {
    await inside.close()
    await api.close()
  }
}

interface Published {
  readonly service: string
  readonly instance: string
}

async function publishAll(api: ApiClient): Promise<readonly Published[]> {
  const names = Array.from({ length: services }, (_, index) => `rest-${index}`)
  const published: Published[] = []
  await inLanes(names, async (name) => {
    const { uuid, service_group: group } = await api.one('createInstances', {
      body: {
        name,
        image: 'hello',
        memory_mb: 16,
        autostart: true,
        wait_timeout_ms: waitMs,
        service_group: { services: [{ port: 443, destination_port: 8080, handlers: ['http', 'tls'] }] },
      },
    })
    if (group === undefined) throw new Error(`${name} has no service`)
    published.push({ service: group.uuid, instance: uuid })
  })
  return published
}

async function inLanes<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const waiting = [...all]
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
}

interface Minute {
  /** The use of processors, in thousandths of a core. */
  readonly millicores: Readonly<Record<Part, number>>
  readonly bytes: Readonly<Record<Part, number>>
  readonly rounds: number
  readonly roundMs: number
  readonly heartbeats: number
}

async function measure(stack: Stack, metric: (name: string) => Promise<number>): Promise<Minute> {
  const ofParts = <T>(of: (pid: number) => T): Record<Part, T> =>
    Object.fromEntries(parts.map((part) => [part, of(stack.pidOf(part))])) as Record<Part, T>
  const counters = async () => ({
    atMs: performance.now(),
    used: ofParts(processorSecondsOfEach),
    rounds: await metric('roost_autoscale_round_seconds_count'),
    roundSeconds: await metric('roost_autoscale_round_seconds_sum'),
    heartbeats: await metric('temporal_request{.*operation="RecordActivityTaskHeartbeat"'),
  })
  const before = await counters()
  await delay(minuteMs)
  const after = await counters()
  const seconds = (after.atMs - before.atMs) / 1_000
  const millicores = Object.fromEntries(
    parts.map((part) => [part, (usedBetween(before.used[part], after.used[part]) * 1_000) / seconds]),
  ) as Record<Part, number>
  const rounds = after.rounds - before.rounds
  return {
    millicores,
    bytes: ofParts(proportionalBytes),
    rounds: rounds / seconds,
    roundMs: ((after.roundSeconds - before.roundSeconds) * 1_000) / rounds,
    heartbeats: (after.heartbeats - before.heartbeats) / seconds,
  }
}

type Used = ReadonlyMap<number, number>

/**
 * The processor time that was used between two readings. Processes may start or end in between: each
 * connection of PostgreSQL is one.
 */
function usedBetween(before: Used, after: Used): number {
  let seconds = 0
  for (const [pid, used] of after) seconds += used - (before.get(pid) ?? 0)
  return seconds
}

/**
 * Finds the worker's metrics port in its environment, because the stack chooses free ports for its parts.
 */
function metricsPortOf(pid: number): number {
  const environment = readFileSync(`/proc/${pid}/environ`, 'utf8')
  const port = /(?:^|\0)ROOST_WORKER_METRICS_PORT=(\d+)/.exec(environment)?.[1]
  if (port === undefined) throw new Error('the worker does not say where its metrics are')
  return Number(port)
}

/** The sum of all series whose name and labels begin with `pattern`. */
async function readMetric(port: number, pattern: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const line = new RegExp(`^${pattern}[^ ]* (\\S+)$`, 'gm')
  return [...text.matchAll(line)].reduce((sum, [, value]) => sum + Number(value), 0)
}

async function historyEvents(inside: StackInside, published: readonly Published[]): Promise<number> {
  let events = 0
  await inLanes(published, async ({ service }) => {
    const { historyLength } = await inside.workflows.getHandle(autoscaleWorkflowId(service)).describe()
    events += historyLength
  })
  return events
}

function findings(without: Minute, resting: Minute, grown: number): readonly Finding[] {
  const all = (of: Minute['millicores']): number => parts.reduce((sum, part) => sum + of[part], 0)
  const both = (less: number, more: number): string =>
    `${less.toFixed(0)} without, ${more.toFixed(0)} with: ${(more - less).toFixed(0)} more (${((more - less) / services).toFixed(3)} each), ratio ${(more / less).toFixed(2)}`
  return [
    ...parts.map((part) => ({
      what: `millicores of ${part}`,
      figure: both(without.millicores[part], resting.millicores[part]),
    })),
    { what: 'millicores of them all', figure: both(all(without.millicores), all(resting.millicores)) },
    { what: 'looks', figure: `${resting.rounds.toFixed(2)} a second, ${inMs(resting.roundMs)} each` },
    { what: 'heartbeats sent', figure: `${resting.heartbeats.toFixed(1)} a second` },
    ...parts.map((part) => ({
      what: `memory of ${part}`,
      figure: `${inMb(without.bytes[part])} without, ${inMb(resting.bytes[part])} with`,
    })),
    { what: 'events that histories grew by', figure: String(grown), aim: '0' },
  ]
}
