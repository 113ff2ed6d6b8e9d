import { setTimeout as delay } from 'node:timers/promises'
import { autoscaleWorkflowId } from '../../workflows/autoscale/messages.ts'
import { autoscale, publishMaster } from '../../test/support/autoscaled-service.ts'
import type { AutoscaledService, Policy } from '../../test/support/autoscaled-service.ts'
import { openPublicNames } from '../../test/support/public-names.ts'
import type { PublicNames } from '../../test/support/public-names.ts'
import { openStackInside } from '../../test/support/stack-inside.ts'
import type { StackInside } from '../../test/support/stack-inside.ts'
import type { Stack } from '../../test/support/stack.ts'
import { beginLoad } from '../../test/support/steady-load.ts'
import { until } from '../../test/support/until.ts'
import { spread } from '../report.ts'
import type { Finding, Section } from '../report.ts'
import { readRows } from '../../test/support/rows.ts'

const rounds = 5
const limitMs = 120_000
/** How long the benchmark waits for the template that the first start of a size makes in the background. */
const templateMadeMs = 5_000
/**
 * The pause before each round. After it the machine has finished the last round's work, and three looks were
 * idle.
 */
const quietMs = 6_000
const cooldownMs = 1_000

/**
 * Under emulation an idle VM takes some 40 millicores. A VM under constant load takes all that the machine
 * has left.
 */
const policy: Policy = {
  name: 'load',
  type: 'step',
  metric: 'cpu',
  adjustment_type: 'exact',
  steps: [
    { upper_bound: 150, adjustment: 1 },
    { lower_bound: 150, adjustment: 2 },
  ],
}
const clients = Array.from({ length: 4 }, () => ({ path: '/?ms=20', pauseMs: 0 }))

/** The times at which each step of growth was reached, in milliseconds since the load began. */
interface Growth {
  readonly decided: number
  readonly created: number
  readonly running: number
  readonly answered: number
}

/** The times at which each step of shrinking was reached, in milliseconds since the load ended. */
interface Shrinking {
  readonly decided: number
  readonly retired: number
  readonly gone: number
}

interface Bench {
  readonly stack: Stack
  readonly names: PublicNames
  readonly inside: StackInside
  readonly service: AutoscaledService
}

/**
 * Measures the time from the beginning of a load on an idle instance to its clone's first answer, and from
 * the end of the load to the end of the clone. All times are from one machine's clock.
 */
export async function benchReaction(stack: Stack): Promise<Section> {
  const names = openPublicNames(stack)
  const inside = await openStackInside(stack)
  try {
    const service = await publishMaster(stack, 'reacts')
    await delay(templateMadeMs)
    await autoscale(stack, service, { max_size: 2, cooldown_time_ms: cooldownMs, policies: [policy] })
    const bench = { stack, names, inside, service }
    const growths: Growth[] = []
    const shrinkings: Shrinking[] = []
    for (let round = 0; round < rounds; round++) {
      await delay(quietMs)
      const { growth, shrinking } = await react(bench)
      growths.push(growth)
      shrinkings.push(shrinking)
    }
    return {
      title: `autoscale: reaction, ${rounds} times`,
      findings: [...growthFindings(growths), ...shrinkingFindings(shrinkings)],
    }
  } finally {
    await inside.close()
    await names.close()
  }
}

async function react(bench: Bench): Promise<{ readonly growth: Growth; readonly shrinking: Shrinking }> {
  const { names, service } = bench
  const beganMs = Date.now()
  const load = beginLoad(names, service.host, clients)
  const clone = await until('there is a clone', async () => (await clonesOf(bench))[0], { limitMs })
  await until('the clone answers', () => load.answers.has(clone.name), { limitMs })
  const answeredMs = Date.now()
  const running = await until('it runs', async () => (await clonesOf(bench))[0]?.startedAt ?? undefined, {
    limitMs,
  })
  const growth = {
    decided: (await decidedAtMs(bench, beganMs)) - beganMs,
    created: clone.createdAt.getTime() - beganMs,
    running: running.getTime() - beganMs,
    answered: answeredMs - beganMs,
  }
  const endedMs = Date.now()
  await load.end()
  const retired = await until(
    'it is given back',
    async () => (await clonesOf(bench))[0]?.retiredAt ?? undefined,
    {
      limitMs,
    },
  )
  await until('it is gone', async () => (await clonesOf(bench)).length === 0, { limitMs })
  const goneMs = Date.now()
  const decidedMs = await decidedAtMs(bench, endedMs)
  return {
    growth,
    shrinking: { decided: decidedMs - endedMs, retired: retired.getTime() - endedMs, gone: goneMs - endedMs },
  }
}

interface CloneRow {
  readonly name: string
  readonly createdAt: Date
  readonly startedAt: Date | null
  readonly retiredAt: Date | null
}

async function clonesOf({ inside, service }: Bench): Promise<readonly CloneRow[]> {
  return await readRows<CloneRow>(inside.database, {
    text: `select name, created_at as "createdAt", started_at as "startedAt", retired_at as "retiredAt"
           from instances where clone_of = $1`,
    values: [service.master],
  })
}

/** When the first watch after `sinceMs` ended, by the time in Temporal's history. */
async function decidedAtMs({ inside, service }: Bench, sinceMs: number): Promise<number> {
  const handle = inside.workflows.getHandle(autoscaleWorkflowId(service.uuid))
  const { events = [] } = await handle.fetchHistory()
  const ends = (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: completed, eventTime }) =>
    completed === null || completed === undefined
      ? []
      : [Number(eventTime?.seconds) * 1_000 + (eventTime?.nanos ?? 0) / 1e6],
  )
  const first = ends.find((atMs) => atMs >= sinceMs)
  if (first === undefined) throw new Error('no watch ended')
  return first
}

function growthFindings(growths: readonly Growth[]): readonly Finding[] {
  const step = (what: string, of: (growth: Growth) => number): Finding => ({
    what,
    figure: spread(growths.map(of)),
  })
  return [
    step('load until it is decided to add one', ({ decided }) => decided),
    step('decision until there is a clone', ({ created, decided }) => created - decided),
    step('clone until it runs', ({ running, created }) => running - created),
    step('running until its first answer through the gateway', ({ answered, running }) => answered - running),
    { ...step('load until the first answer of a clone', ({ answered }) => answered), aim: 'within seconds' },
  ]
}

function shrinkingFindings(shrinkings: readonly Shrinking[]): readonly Finding[] {
  const step = (what: string, of: (shrinking: Shrinking) => number): Finding => ({
    what,
    figure: spread(shrinkings.map(of)),
  })
  return [
    step('end of the load until it is decided to give it back', ({ decided }) => decided),
    step('decision until it is out of the count', ({ retired, decided }) => retired - decided),
    step('then until it is drained, stopped and deleted', ({ gone, retired }) => gone - retired),
  ]
}
