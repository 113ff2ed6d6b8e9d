import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** /proc/uptime has steps of 10 ms. */
const uptimeStepMs = 10

/** The milliseconds of /proc/uptime. The read costs some microseconds, because no disk is involved. */
export function uptimeMs(): number {
  return Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000)
}

/**
 * Returns a function that reads CLOCK_BOOTTIME, which goes on while the machine is suspended. Node can not
 * read it. /proc/uptime goes as fast, but in some containers it began with the container; so the difference
 * is measured here, once, with the help of the keeper's program. The function is never ahead of the clock,
 * and behind it by no more than the time that the program took to start: a term that is counted from it
 * ends too early rather than too late.
 */
export async function openBootClock(
  keeperPath: string,
  readUptimeMs: () => number = uptimeMs,
): Promise<() => number> {
  const { stdout } = await promisify(execFile)(keeperPath, ['clock'])
  if (!/^\d+\n$/.test(stdout))
    throw new Error(`'${keeperPath} clock' printed no time: ${stdout.slice(0, 80)}`)
  const offsetMs = Number(stdout) - (readUptimeMs() + uptimeStepMs)
  return () => readUptimeMs() + offsetMs
}
