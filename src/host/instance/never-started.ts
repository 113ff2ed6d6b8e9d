import { StartKind } from '../../domain/instance/start-report.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'

/** The report of a boot that ended before there was anything to measure. */
export function neverStarted(boot: number, atMs: number): StartReport {
  return {
    boot,
    kind: StartKind.Boot,
    startedAtMs: atMs,
    bootTimeUs: 0,
    vmmStartTimeUs: 0,
    vmmLoadTimeUs: 0,
    vmmReadyTimeUs: 0,
  }
}
