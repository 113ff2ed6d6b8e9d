import { channel } from 'node:diagnostics_channel'
import { addSpan, isTracing, traced } from './traces.ts'

/**
 * One step of a start or a wake. Its time is that of the machine's clock in microseconds, so that spans of
 * several processes of a machine can be put beside each other.
 */
export interface Span {
  /** The UUID of the instance. */
  readonly instance: string
  /** The part and the step, such as `host: image`. */
  readonly name: string
  readonly startUs: number
  readonly durationUs: number
}

/**
 * Spans go through a channel of Node, so that the code between needs no further argument. Without a listener
 * a span costs one look at a property: no clock is read and no object is made.
 */
const spans = channel('roost.span')

/** Calls `listener` with every span of this process from now on. */
export function onSpan(listener: (span: Span) => void): void {
  spans.subscribe((span) => listener(span as Span))
}

/** Runs `work`, and tells how long it took, whether it succeeded or not. */
export async function span<T>(instance: string, name: string, work: () => Promise<T>): Promise<T> {
  const run = isTracing() ? () => traced(spanStart(instance, name), work) : work
  if (!spans.hasSubscribers) return await run()
  const end = beginSpan(name)
  try {
    return await run()
  } finally {
    end(instance)
  }
}

/** Begins a span whose instance is not known yet. The result ends it; the first of its calls counts. */
export function beginSpan(name: string): (instance: string) => void {
  if (!spans.hasSubscribers) return nothing
  const startUs = nowUs()
  let open = true
  return (instance) => {
    if (open) spans.publish({ instance, name, startUs, durationUs: nowUs() - startUs } satisfies Span)
    open = false
  }
}

/** Tells spans that were measured elsewhere. `read` is only called if somebody listens. */
export function tellSpans(read: () => readonly Span[]): void {
  if (!spans.hasSubscribers && !isTracing()) return
  for (const one of read()) {
    spans.publish(one)
    const { instance, name, startUs, durationUs } = one
    addSpan({ ...spanStart(instance, name), startUs }, startUs + durationUs)
  }
}

function spanStart(instance: string, name: string) {
  return { name, kind: 'internal', attributes: { 'roost.instance.uuid': instance } } as const
}

function nothing(): void {
  // There is no listener.
}

function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}
