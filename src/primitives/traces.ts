import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Traces across the parts of the platform. The code between knows only these types: `src/tracing` has the
 * tracer, and a part sets it if an operator asked for traces. Without a tracer nothing here does any work.
 *
 * A place in a trace is a text of W3C Trace Context, `traceparent`. It travels with calls to other parts.
 * Within a process it follows the work by itself.
 */
export type SpanKind = 'internal' | 'server' | 'client'
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanStart {
  readonly name: string
  readonly kind: SpanKind
  /** Where the span belongs. If it is absent, the span begins a trace. */
  readonly parent?: string | undefined
  readonly startUs?: number
  readonly attributes?: SpanAttributes
}

export interface SpanEnd {
  /** A better name, if it is known only now. */
  readonly name?: string | undefined
  readonly failed?: boolean
  readonly endUs?: number
  readonly attributes?: SpanAttributes
}

export interface OpenSpan {
  /** The place of this span, for what it causes. */
  readonly traceparent: string
  end(end?: SpanEnd): void
}

export interface Tracer {
  begin(start: SpanStart): OpenSpan
  /** Sends what is left. Resolves within a second, also if nobody receives it. */
  close(): Promise<void>
}

/**
 * How long work counts as caused by the request that began it. A timer that was set in a trace would
 * otherwise lead to spans of the trace for as long as the process lives.
 */
const causeKeptMs = 60_000
/** Version 00, and neither id is all zeros. Later versions are read by their first four fields. */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

const places = new AsyncLocalStorage<{ readonly traceparent: string; readonly untilMs: number }>()
let present: Tracer | undefined

export function setTracer(tracer: Tracer | undefined): void {
  present = tracer
}

/** Whether this process makes spans. */
export function isTracing(): boolean {
  return present !== undefined
}

/** Returns the text if it is a sound `traceparent`. */
export function soundTraceparent(text: unknown): string | undefined {
  return typeof text === 'string' && pattern.test(text) ? text : undefined
}

/** The place of the work that runs now. */
export function traceparentNow(): string | undefined {
  if (present === undefined) return undefined
  const place = places.getStore()
  return place === undefined || place.untilMs < performance.now() ? undefined : place.traceparent
}

/** Runs `work`, and all that it begins, at this place. */
export function atPlace<T>(traceparent: string | undefined, work: () => T): T {
  if (present === undefined || traceparent === undefined) return work()
  return places.run({ traceparent, untilMs: performance.now() + causeKeptMs }, work)
}

/** Runs `work` as a span of the present place, or of `start.parent`. Without a place there is no span. */
export async function traced<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
  const parent = start.parent ?? traceparentNow()
  if (present === undefined || parent === undefined) return await work()
  const open = present.begin({ ...start, parent })
  try {
    const result = await atPlace(open.traceparent, work)
    open.end()
    return result
  } catch (error) {
    open.end({ failed: true })
    throw error
  }
}

/** Adds a span of the present place that was measured elsewhere. */
export function addSpan(start: SpanStart & { readonly startUs: number }, endUs: number): void {
  const parent = traceparentNow()
  if (parent !== undefined) present?.begin({ ...start, parent }).end({ endUs })
}
