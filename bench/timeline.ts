import { setTimeout as delay } from 'node:timers/promises'
import type { History } from '@temporalio/common/lib/proto-utils.js'
import type { Span } from '../src/primitives/spans.ts'
import { openPublicNames } from '../test/support/public-names.ts'
import { publish, untilAsleep } from '../test/support/published-instance.ts'
import { openStackInside } from '../test/support/stack-inside.ts'
import type { Stack } from '../test/support/stack.ts'

const settleMs = 2_000
/** The first start of a size makes a template in the background; see `start-times.ts`. */
const templateMadeMs = 6_000
const barWidth = 60
const kept = { policy: 'on', cooldown_time_ms: 200, stateful: true }

/**
 * Draws one start from a template and one stateful wake as time lines: the spans that the parts log under
 * `ROOST_SPANS`, the events of the workflow's history, and what the gateway says in `Server-Timing`.
 */
export async function drawTimelines(stack: Stack): Promise<void> {
  const inside = await openStackInside(stack)
  const names = openPublicNames(stack)
  const draw = async (title: string, uuid: string, whole: Span) => {
    await delay(settleMs)
    const history = await inside.workflows.getHandle(`instance/${uuid}`).fetchHistory()
    const all = [whole, ...loggedSpans(stack.output(), uuid), ...historySpans(history, uuid)]
    process.stdout.write(`\n${title}\n${drawing(all, whole)}\n`)
  }
  try {
    const body = { name: 'timed', image: 'hello', autostart: true, wait_timeout_ms: 60_000 }
    for (let run = 0; run < 3; run++) {
      const { answer, whole } = await timed('client: create', () =>
        stack.api.one('createInstances', { body }),
      )
      await delay(run === 0 ? templateMadeMs : settleMs)
      if (run === 2) await draw('one start, from a template', answer.uuid, whole)
      await stack.api.one('deleteInstances', { object: 'timed' })
      await delay(settleMs)
    }
    const web = await publish(stack, 'kept', { scale_to_zero: kept })
    for (let run = 0; run < 3; run++) {
      await untilAsleep(stack, web.uuid)
      await delay(settleMs)
      const get = () => names.get(`https://${web.host}/count`)
      const { answer, whole } = await timed('client: request, with a new connection', get)
      const told = String(answer.headers['server-timing'])
      if (run === 2) await draw(`one stateful wake; the gateway says: ${told}`, web.uuid, whole)
    }
  } finally {
    await names.close()
    await inside.close()
  }
}

async function timed<T>(name: string, work: () => Promise<T>): Promise<{ answer: T; whole: Span }> {
  const startUs = nowUs()
  const answer = await work()
  return { answer, whole: { instance: '', name, startUs, durationUs: nowUs() - startUs } }
}

function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}

/** The spans of an instance in a stack's log. */
function loggedSpans(log: string, uuid: string): readonly Span[] {
  const lines = log.split('\n').filter((line) => line.includes('"span":') && line.includes(uuid))
  return lines.map((line) => {
    const { instance, span, startUs, durationUs } = JSON.parse(line) as Span & { readonly span: string }
    return { instance, name: span, startUs, durationUs }
  })
}

/** A workflow's tasks and activities: how long each waited to be taken, and how long it took. */
function historySpans(history: History, uuid: string): readonly Span[] {
  const events = history.events ?? []
  const timeOf = (id: unknown): number | undefined => {
    const time = events.find(({ eventId }) => String(eventId) === String(id))?.eventTime
    return time ? Math.round(Number(time.seconds) * 1e6 + Number(time.nanos) / 1_000) : undefined
  }
  return events.flatMap((event) => {
    const task = event.workflowTaskCompletedEventAttributes
    const activity = event.activityTaskCompletedEventAttributes
    const { scheduledEventId, startedEventId } = task ?? activity ?? {}
    const what = task ? 'workflow task' : 'activity'
    const [scheduledUs, startedUs, endedUs] = [scheduledEventId, startedEventId, event.eventId].map(timeOf)
    if (scheduledUs === undefined || startedUs === undefined || endedUs === undefined) return []
    const of = (name: string, startUs: number, endUs: number): Span => ({
      instance: uuid,
      name: `temporal: ${what} ${name}`,
      startUs,
      durationUs: endUs - startUs,
    })
    return [of('waits', scheduledUs, startedUs), of('runs', startedUs, endedUs)]
  })
}

function drawing(spans: readonly Span[], whole: Span): string {
  const endUs = whole.startUs + whole.durationUs
  const shown = spans
    .filter((span) => span.startUs + span.durationUs >= whole.startUs && span.startUs <= endUs)
    .toSorted((one, other) => one.startUs - other.startUs)
  const width = Math.max(...shown.map(({ name }) => name.length))
  const column = (us: number) =>
    Math.max(0, Math.min(barWidth, Math.round(((us - whole.startUs) / whole.durationUs) * barWidth)))
  const inMs = (us: number) => (us / 1_000).toFixed(1).padStart(7)
  return shown
    .map(({ name, startUs, durationUs }) => {
      const from = Math.min(column(startUs), barWidth - 1)
      const bar = ' '.repeat(from) + '#'.repeat(Math.max(1, column(startUs + durationUs) - from))
      return `  ${name.padEnd(width)} ${inMs(startUs - whole.startUs)} ${inMs(durationUs)} |${bar.padEnd(barWidth)}|`
    })
    .join('\n')
}
