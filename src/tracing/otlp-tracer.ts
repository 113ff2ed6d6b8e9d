import { setTimeout as delay } from 'node:timers/promises'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { OpenSpan, SpanStart, Tracer } from '../primitives/traces.ts'
import { samplerOf } from './sampler.ts'
import type { Environment, TracingLog } from './environment.ts'

/**
 * The most finished spans that wait for their export, about 1 KB each. Further spans are dropped, so a
 * receiver that is away costs no more memory than this.
 */
const maxWaiting = 2_048
const batchMax = 512
/** The longest value of an attribute, in characters. */
const valueMaxLength = 256
const attributesMax = 16
const closeLimitMs = 800
const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT } as const

export function createTracer(
  part: string,
  { env, log }: { readonly env: Environment; readonly log: TracingLog },
): Tracer {
  warnOfProtocol(env, log)
  const own = resourceFromAttributes({ 'service.name': `roost-${part}`, 'roost.part': part })
  const provider = new TracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    sampler: samplerOf(env, log),
    spanLimits: { attributeCountLimit: attributesMax, attributeValueLengthLimit: valueMaxLength },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: toldOnce(new OTLPTraceExporter(), log),
        maxQueueSize: maxWaiting,
        maxExportBatchSize: batchMax,
      }),
    ],
  })
  const tracer = provider.getTracer('roost')
  return {
    begin(start) {
      const span = tracer.startSpan(start.name, optionsOf(start), contextOf(start.parent))
      const { traceId, spanId, traceFlags } = span.spanContext()
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        end({ name, failed = false, endUs, attributes } = {}) {
          if (name !== undefined) span.updateName(name)
          if (attributes !== undefined) span.setAttributes(attributes)
          if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end(endUs === undefined ? undefined : endUs / 1_000)
        },
      } satisfies OpenSpan
    },
    async close() {
      const closed = provider.shutdown().catch(() => undefined)
      await Promise.race([closed, delay(closeLimitMs, undefined, { ref: false })])
    },
  }
}

function optionsOf({ kind, startUs, attributes }: SpanStart) {
  return {
    kind: kinds[kind],
    ...(startUs === undefined ? {} : { startTime: startUs / 1_000 }),
    ...(attributes === undefined ? {} : { attributes }),
  }
}

function contextOf(traceparent: string | undefined): Context {
  if (traceparent === undefined) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-')
  const traceFlags = Number.parseInt(flags, 16) & 1
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

/** Spans are sent as JSON over HTTP. Every receiver of OTLP over HTTP has to take that. */
function warnOfProtocol(env: Environment, log: TracingLog): void {
  const wanted =
    env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? 'http/json'
  if (wanted === 'http/json') return
  log.warn({}, `the protocol for traces is '${wanted}', but Roost speaks only http/json: it is used`)
}

/** Logs the first failure of an outage of the receiver, without what the receiver said. */
function toldOnce(exporter: SpanExporter, log: TracingLog): SpanExporter {
  let isTold = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.error !== undefined
        if (failed && !isTold)
          log.warn({ spans: spans.length }, 'the receiver of traces took no spans; they are lost')
        isTold = failed
        done(result)
      })
    },
    shutdown: async () => await exporter.shutdown(),
  }
}
