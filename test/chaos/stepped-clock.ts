import { writeFileSync } from 'node:fs'
import path from 'node:path'

/**
 * The time of day of one host, which a run can step although all hosts share the clock of one machine.
 * Every process of Node on that host loads `stepped-date.ts` first, which adds what this file says.
 */
export const clockVariable = 'ROOST_TEST_CLOCK'

/** The settings with which the host is started. */
export function steppedClock(dataDir: string): Readonly<Record<string, string>> {
  stepClock(dataDir, 0)
  return {
    NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'stepped-date.ts')}`,
    [clockVariable]: fileOf(dataDir),
  }
}

/** Makes the time of day so much later than it is. */
export function stepClock(dataDir: string, byMs: number): void {
  writeFileSync(fileOf(dataDir), String(Math.round(byMs)))
}

function fileOf(dataDir: string): string {
  return path.join(dataDir, 'test-clock')
}
