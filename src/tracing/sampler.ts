import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { Sampler } from '@opentelemetry/sdk-trace'
import type { Environment, TracingLog } from './environment.ts'

type Make = (ratio: number) => Sampler

const bases: Readonly<Record<string, Make>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
}

const defaultName = 'parentbased_always_on'
const parentBased = 'parentbased_'

/** The sampler that `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG` name. */
export function samplerOf(env: Environment, log: TracingLog): Sampler {
  const name = (env['OTEL_TRACES_SAMPLER'] ?? '').trim() || defaultName
  const base = name.startsWith(parentBased) ? name.slice(parentBased.length) : name
  const make = Object.hasOwn(bases, base) ? bases[base] : undefined
  if (make === undefined) {
    const known = Object.keys(bases).flatMap((each) => [each, parentBased + each])
    log.warn({}, `OTEL_TRACES_SAMPLER is '${name}', which is none of ${known.join(', ')}: all is sampled`)
    return new ParentBasedSampler({ root: new AlwaysOnSampler() })
  }
  const root = make(ratioOf(env, log))
  return base === name ? root : new ParentBasedSampler({ root })
}

function ratioOf(env: Environment, log: TracingLog): number {
  const text = (env['OTEL_TRACES_SAMPLER_ARG'] ?? '').trim()
  if (text === '') return 1
  const ratio = Number(text)
  if (ratio >= 0 && ratio <= 1) return ratio
  log.warn({}, `OTEL_TRACES_SAMPLER_ARG is '${text}', which is not from 0 to 1: 1 is used`)
  return 1
}
