import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import { countStates, countUnfinished } from '../db/instance/state-counts.ts'
import type { StateCount, UnfinishedWork } from '../db/instance/state-counts.ts'
import type { Database } from '../db/database.ts'
import { heartbeatAges } from '../db/host/hosts.ts'
import type { HeartbeatAge } from '../db/host/hosts.ts'
import { showPool } from '../db/pool-metrics.ts'
import { upgradeStates } from '../domain/host/upgrade.ts'
import { instanceStates } from '../domain/instance/state.ts'

/**
 * What the database knows of the whole platform, for operators. Every API process tells the same, so readers
 * take the largest value.
 */

interface Facts {
  readonly hosts: readonly HeartbeatAge[]
  readonly states: readonly StateCount[]
  readonly unfinished: Readonly<Record<UnfinishedWork, number>>
}

/**
 * After this time an instance that starts, stops or is deleted is stuck. A slow pull of a large image takes
 * some minutes.
 */
const unfinishedAfterMs = 900_000
/** How long facts are used before they are read again. Anybody on the parts' network may ask for metrics. */
const factsTtlMs = 5_000
/**
 * How long metrics wait for the database. A process whose database is silent still shows its other metrics.
 */
const factsLimitMs = 2_000

/** Work that an API process does by itself, beside requests. */
export const Housekeeping = { Deletions: 'deletions', Events: 'events' } as const
export type Housekeeping = (typeof Housekeeping)[keyof typeof Housekeeping]

export interface PlatformMetrics {
  housekeepingFailed(task: Housekeeping): void
}

export function createPlatformMetrics(registry: Registry, database: Database): PlatformMetrics {
  const facts = createFacts(database)
  showPool(registry, database)
  showFacts(registry, facts)
  const failures = new Counter({
    name: 'roost_api_housekeeping_failures_total',
    help: 'Removals of old records that failed, by what was to be removed: events, or marks of deletions.',
    labelNames: ['task'],
    registers: [registry],
  })
  for (const task of Object.values(Housekeeping)) failures.inc({ task }, 0)
  return { housekeepingFailed: (task) => failures.inc({ task }) }
}

function showFacts(registry: Registry, read: () => Promise<Facts | undefined>): void {
  const registers = [registry]
  const up: Gauge = new Gauge({
    name: 'roost_database_up',
    help: '1 if PostgreSQL answered this API lately, else 0.',
    registers,
    collect: async () => up.set((await read()) === undefined ? 0 : 1),
  })
  const gauge = (options: {
    readonly name: string
    readonly help: string
    readonly label: string
    readonly values: (facts: Facts) => Iterable<readonly [label: string, value: number]>
  }): void => {
    const { name, help, label, values } = options
    const made: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        const known = await read()
        made.reset()
        if (known !== undefined) for (const [of, value] of values(known)) made.set({ [label]: of }, value)
      },
    })
  }
  gauge({
    name: 'roost_host_heartbeat_age_seconds',
    help: 'Time since the API last heard of a host.',
    label: 'host',
    values: ({ hosts }) => hosts.map(({ id, ageSeconds }) => [id, ageSeconds]),
  })
  gauge({
    name: 'roost_host_lost',
    help: '1 if a host is lost, so that its instances begin on other hosts, else 0.',
    label: 'host',
    values: ({ hosts }) => hosts.map(({ id, isLost }) => [id, isLost ? 1 : 0]),
  })
  showLosses(registers, read)
  showUpgrades(registers, read)
  gauge({
    name: 'roost_instances',
    help: 'Instances of all users that are not deleted, by the state of their row.',
    label: 'state',
    values: ({ states }) => {
      const counts = new Map(states.map(({ state, count }) => [state, count]))
      return instanceStates.map((state) => [state, counts.get(state) ?? 0])
    },
  })
  gauge({
    name: 'roost_stuck_instances',
    help: `Instances that have been starting, stopping or being deleted for more than ${unfinishedAfterMs / 60_000} minutes.`,
    label: 'work',
    values: ({ unfinished }) => Object.entries(unfinished),
  })
}

/** How the upgrade of each host goes, or went last. A host that told none has no samples. */
function showUpgrades(registers: Registry[], read: () => Promise<Facts | undefined>): void {
  const made: Gauge = new Gauge({
    name: 'roost_host_upgrade',
    help: '1 for the state of the upgrade of a host that is under way, or else of its last one; 0 for the other states.',
    labelNames: ['host', 'state'],
    registers,
    async collect() {
      const known = await read()
      made.reset()
      for (const { id, upgradeState } of known?.hosts ?? [])
        if (upgradeState !== null)
          for (const state of upgradeStates) made.set({ host: id, state }, state === upgradeState ? 1 : 0)
    },
  })
}

/** How often hosts were lost. The rows count it, so that a restart of the API does not begin anew. */
function showLosses(registers: Registry[], read: () => Promise<Facts | undefined>): void {
  const losses: Counter = new Counter({
    name: 'roost_host_losses_total',
    help: 'How often a host was lost.',
    labelNames: ['host'],
    registers,
    async collect() {
      const known = await read()
      losses.reset()
      for (const { id, losses: count } of known?.hosts ?? []) losses.inc({ host: id }, count)
    },
  })
}

/** Reads the facts; undefined if the database does not answer. All metrics of one request share a reading. */
function createFacts(database: Database): () => Promise<Facts | undefined> {
  let reading: Promise<Facts | undefined> | undefined
  let readAtMs = Number.NEGATIVE_INFINITY
  return async () => {
    if (reading === undefined || performance.now() - readAtMs > factsTtlMs) {
      readAtMs = performance.now()
      reading = readFacts(database).catch(() => undefined)
    }
    return await Promise.race([reading, inTime()])
  }
}

async function readFacts(database: Database): Promise<Facts> {
  const [hosts, states, unfinished] = await Promise.all([
    heartbeatAges(database),
    countStates(database),
    countUnfinished(database, unfinishedAfterMs),
  ])
  return { hosts, states, unfinished }
}

function inTime(): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), factsLimitMs).unref())
}
