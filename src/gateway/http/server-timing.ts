import type { AdmissionTiming } from '../traffic.ts'

/** The value of `Server-Timing`: the parts of what an answer took, in milliseconds. */
export function serverTiming(timing: AdmissionTiming | undefined, upstreamMs: number): string {
  const { queuedUs = 0, wake } = timing ?? {}
  const woken =
    wake === undefined ? '' : `, wake;dur=${milliseconds(wake.wakeUs / 1_000)};desc="${wake.kind}"`
  return `queue;dur=${milliseconds(queuedUs / 1_000)}${woken}, upstream;dur=${milliseconds(upstreamMs)}`
}

function milliseconds(value: number): string {
  return value.toFixed(2)
}
