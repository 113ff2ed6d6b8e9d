import { setTimeout as delay } from 'node:timers/promises'
import { UserEventKind } from '../src/domain/event/user-event-kind.ts'
import { RolloutPhase } from '../src/domain/rollout/phase.ts'
import { openPublicNames } from '../test/support/public-names.ts'
import type { PublicNames } from '../test/support/public-names.ts'
import { readRows } from '../test/support/rows.ts'
import { openStackInside } from '../test/support/stack-inside.ts'
import type { StackInside } from '../test/support/stack-inside.ts'
import type { Stack } from '../test/support/stack.ts'
import {
  publishVersion,
  removeVersions,
  sendTraffic,
  untilPhase,
  version,
} from '../test/support/versioned-service.ts'
import type { VersionAnswer, VersionTraffic, VersionedService } from '../test/support/versioned-service.ts'
import { until } from '../test/support/until.ts'
import { spread } from './report.ts'
import type { Finding, Section } from './report.ts'

const rounds = 7
const replicas = 3
/** How long the benchmark waits for the template that the first start of a size makes in the background. */
const templateMadeMs = 5_000
/** The pause before each measurement. After it the machine has finished the last one's work. */
const quietMs = 3_000
const perSecond = 50
const limitMs = 120_000
/** So long the new version is watched. Going back is asked for in that time, or after it. */
const bakeS = 5
const firstVersion = 'one'

interface Bench {
  readonly stack: Stack
  readonly inside: StackInside
  readonly names: PublicNames
}

/** The times at which each step of a rollout was reached, in milliseconds since the call. */
interface Rollout {
  readonly created: number
  readonly running: number
  /** The new version is healthy, and the gateways may give it the traffic. */
  readonly given: number
  /** No request that was sent later was answered by the old version. */
  readonly switched: number
  /** How long as many instances took to start by themselves, right before. */
  readonly start: number
}

/**
 * Measures, under a load of 50 requests per second, the time from the call of a rollout until every request
 * is answered by the new version, less a start of the same instance by itself; and the same for the way back.
 */
export async function benchRollout(stack: Stack): Promise<Section> {
  const names = openPublicNames(stack)
  const inside = await openStackInside(stack)
  try {
    const bench = { stack, names, inside }
    // The first start of a size makes its template.
    await startMs(bench, 1)
    await delay(templateMadeMs)
    return {
      title: `rollout: call until all traffic is on the other version, ${perSecond} requests/s, ${rounds} times`,
      findings: [...(await benchOne(bench)), ...(await benchReplicas(bench)), ...(await benchVolume(bench))],
    }
  } finally {
    await inside.close()
    await names.close()
  }
}

/** One instance: forwards, back while the new version is watched, and back from the version that is kept. */
async function benchOne(bench: Bench): Promise<readonly Finding[]> {
  const rolled = await publishVersion(bench.stack, 'rolled')
  const forwards: Rollout[] = []
  const watched: number[] = []
  const kept: number[] = []
  for (let round = 0; round < rounds; round++) {
    forwards.push(await rollForwards(bench, rolled, `watched-${round}`))
    watched.push(await rollBack(bench, rolled))
    await rollForwards(bench, rolled, `kept-${round}`)
    await untilPhase(bench.stack, rolled.service, 'kept')
    kept.push(await rollBack(bench, rolled))
  }
  await removeVersions(bench.stack, rolled.service)
  return [...stepFindings(forwards), backFinding('watched', watched), backFinding('kept', kept)]
}

async function benchReplicas(bench: Bench): Promise<readonly Finding[]> {
  const rolled = await publishVersion(bench.stack, 'replicated', { replicas: replicas - 1 })
  const forwards: Rollout[] = []
  for (let round = 0; round < rounds; round++) {
    forwards.push(await rollForwards(bench, rolled, `next-${round}`))
    await rollBack(bench, rolled)
  }
  await removeVersions(bench.stack, rolled.service)
  return totalFindings(`${replicas} instances`, forwards)
}

/** The requests wait while a volume is handed over: the slowest of them tells how long. */
async function benchVolume(bench: Bench): Promise<readonly Finding[]> {
  const rolled = await publishVersion(bench.stack, 'keeping', { volumes: [{ size_mb: 64, at: '/data' }] })
  const pauses: number[] = []
  for (let round = 0; round < rounds; round++) {
    await delay(quietMs)
    const name = `handed-${round}`
    const traffic = watch(bench, rolled)
    await begin(bench, rolled, { name, bakeS: 0 })
    await switched(traffic, name)
    await untilPhase(bench.stack, rolled.service, 'kept')
    pauses.push(Math.max(...traffic.seen.map(({ tookMs }) => tookMs)))
  }
  await removeVersions(bench.stack, rolled.service)
  return [{ what: 'a volume is handed over: the longest wait of a request', figure: spread(pauses) }]
}

async function rollForwards(bench: Bench, rolled: VersionedService, name: string): Promise<Rollout> {
  await delay(quietMs)
  const start = await startMs(bench, rolled.instances.length)
  await delay(quietMs)
  const traffic = watch(bench, rolled)
  const beganMs = Date.now()
  const next = await begin(bench, rolled, { name, bakeS })
  const switchedMs = await switched(traffic, name)
  const times = await readTimes(bench, rolled, next)
  return {
    created: times.created.getTime() - beganMs,
    running: times.running.getTime() - beganMs,
    given: times.given.getTime() - beganMs,
    switched: switchedMs - beganMs,
    start,
  }
}

/** When the last of the new instances was written and ran, and when the new version was given traffic. */
async function readTimes(
  { inside }: Bench,
  { service }: VersionedService,
  next: readonly string[],
): Promise<Readonly<Record<'created' | 'running' | 'given', Date>>> {
  const [times] = await readRows<Record<'created' | 'running' | 'given', Date>>(inside.database, {
    text: `select max(created_at) as created, max(started_at) as running,
             (select max(at) from events where object_uuid = $2 and kind = $3 and state_after = $4) as given
           from instances where uuid = any($1)`,
    values: [next, service, UserEventKind.ServiceRollout, RolloutPhase.Baking],
  })
  if (times === undefined) throw new Error('there is no row')
  return times
}

async function rollBack(bench: Bench, rolled: VersionedService): Promise<number> {
  const traffic = watch(bench, rolled)
  const beganMs = Date.now()
  await bench.stack.api.one('rollBackServices', { object: rolled.service })
  const switchedMs = await switched(traffic, firstVersion)
  await untilPhase(bench.stack, rolled.service, 'returned')
  return switchedMs - beganMs
}

/** Begins a rollout, and returns the new instances. */
async function begin(
  { stack }: Bench,
  { service }: VersionedService,
  { name, bakeS }: { readonly name: string; readonly bakeS: number },
): Promise<readonly string[]> {
  const { rollout } = await stack.api.one('createRollouts', {
    object: service,
    body: { env: version.good(name), bake_s: bakeS },
  })
  return (rollout.new_instances ?? []).map(({ uuid }) => uuid)
}

/** How long so many instances take to start by themselves, from the call to the answer that they run. */
async function startMs({ stack }: Bench, count: number): Promise<number> {
  const startedMs = performance.now()
  const made = await stack.api.call('createInstances', {
    body: {
      name: 'alone',
      image: 'hello',
      memory_mb: 128,
      replicas: count - 1,
      autostart: true,
      wait_timeout_ms: limitMs,
    },
  })
  const tookMs = performance.now() - startedMs
  for (const { uuid } of made) await stack.api.one('deleteInstances', { object: uuid })
  return tookMs
}

interface Watched extends VersionTraffic {
  readonly seen: readonly VersionAnswer[]
}

function watch({ names }: Bench, { host }: VersionedService): Watched {
  const seen: VersionAnswer[] = []
  const traffic = sendTraffic(names, host, { perSecond, onAnswer: (answer) => seen.push(answer) })
  return { ...traffic, seen }
}

/**
 * Ends the traffic when this version has answered for a second, and returns when the last request was sent
 * that another one answered. Throws if a request failed.
 */
async function switched(traffic: Watched, name: string): Promise<number> {
  const isOther = ({ version }: VersionAnswer): boolean => version !== name
  const answersOfASecond = (): boolean => {
    const newest = traffic.seen.slice(-perSecond)
    return newest.length === perSecond && !newest.some(isOther)
  }
  await until(`all answers are those of ${name}`, answersOfASecond, { limitMs })
  await endUnharmed(traffic)
  return Math.max(...traffic.seen.filter(isOther).map(({ sentMs }) => sentMs))
}

async function endUnharmed(traffic: Watched): Promise<void> {
  const failed = await traffic.end()
  if (failed.length > 0) throw new Error(`requests failed:\n${failed.join('\n')}`)
}

function stepFindings(rollouts: readonly Rollout[]): readonly Finding[] {
  const step = (what: string, of: (rollout: Rollout) => number): Finding => ({
    what: `one instance: ${what}`,
    figure: spread(rollouts.map(of)),
  })
  return [
    step('call until the new instance is written', ({ created }) => created),
    step('then until it runs', ({ created, running }) => running - created),
    step('then until it is healthy and gets the traffic', ({ running, given }) => given - running),
    step('then until the old version gets no request', ({ given, switched }) => switched - given),
    ...totalFindings('one instance', rollouts),
  ]
}

function totalFindings(what: string, rollouts: readonly Rollout[]): readonly Finding[] {
  return [
    { what: `${what}: a start by itself, right before`, figure: spread(rollouts.map(({ start }) => start)) },
    { what: `${what}: the whole`, figure: spread(rollouts.map(({ switched }) => switched)) },
    {
      what: `${what}: the whole, less a start`,
      figure: spread(rollouts.map(({ switched, start }) => switched - start)),
    },
  ]
}

function backFinding(phase: string, times: readonly number[]): Finding {
  return { what: `one instance: back while it is ${phase}`, figure: spread(times) }
}
