import { setTracer } from '../primitives/traces.ts'
import type { Tracer } from '../primitives/traces.ts'
import type { Environment, TracingLog } from './environment.ts'

/**
 * Makes spans in this process and exports them, if the usual variables of OpenTelemetry name a receiver. Only
 * then are its packages loaded. Returns the tracer, or undefined if there are to be no traces.
 */
export async function openTracing(
  part: string,
  { env, log }: { readonly env: Environment; readonly log: TracingLog },
): Promise<Tracer | undefined> {
  if (!wantsTraces(env)) return undefined
  const { createTracer } = await import('./otlp-tracer.ts')
  const tracer = createTracer(part, { env, log })
  setTracer(tracer)
  return tracer
}

export function wantsTraces(env: Environment): boolean {
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return false
  if (env['OTEL_TRACES_EXPORTER']?.trim() === 'none') return false
  return endpointNames.some((name) => (env[name] ?? '').trim() !== '')
}

const endpointNames = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const
