import { execFile } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { libraryPath } from '../../setup/libraries.mjs'
import { lastCore, pinned } from './pinned.ts'

export interface WebLoad {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The number of requests whose answer did not have a status 2xx, or did not come. */
  readonly failed: number
  /** The bytes of answers that were received. */
  readonly bytesPerSecond?: number
}

const run = promisify(execFile)
/** The duration of one load. All figures here are averages over it. */
export const seconds = 2
/** How much longer than its duration a load may run before it counts as stuck. */
const slackMs = 30_000

/**
 * Loads with HTTP/1.1 and keep-alive, by wrk. `host` is the name that is asked for, if it is not the URL's.
 * `script` is a file for wrk that says what requests look like.
 */
export async function loadByWrk(
  url: string,
  connections: number,
  { host, script }: { readonly host?: string; readonly script?: string } = {},
): Promise<WebLoad> {
  const how = [
    ...(host === undefined ? [] : ['-H', `Host: ${host}`]),
    ...(script === undefined ? [] : ['-s', script]),
  ]
  const args = [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '10s',
    '--latency',
    ...how,
    url,
  ]
  const output = await text(args)
  const failed = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1] ?? '0'
  const socketErrors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(output)
  const broken = (socketErrors?.slice(1) ?? []).reduce((sum, count) => sum + Number(count), 0)
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1] ?? Number.NaN),
    p50Ms: milliseconds(/ 50%\s+([\d.]+)(us|ms|s)/.exec(output)),
    p99Ms: milliseconds(/ 99%\s+([\d.]+)(us|ms|s)/.exec(output)),
    failed: Number(failed) + broken,
    bytesPerSecond: bytes(/Transfer\/sec:\s+([\d.]+)([KMG]?)B/.exec(output)),
  }
}

/** Loads with HTTP/2 and several streams on each connection, by the h2load below `root`. */
export async function loadByH2load(
  root: string,
  url: string,
  of: { readonly connections: number; readonly streams: number },
): Promise<WebLoad> {
  const log = path.join(tmpdir(), `roost-h2load-${process.pid}.log`)
  const h2load = path.join(root, 'usr/bin/h2load')
  const args = [h2load, '-t1', `-c${of.connections}`, `-m${of.streams}`, '-D', String(seconds)]
  try {
    const output = await text([...args, `--log-file=${log}`, url], { LD_LIBRARY_PATH: libraryPath(root) })
    const counts = /(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout/.exec(output)
    // Each line has the start in µs, the status and the duration in µs.
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    const durations = Float64Array.from(lines, (line) => Number(line.split('\t')[2]) / 1000).sort()
    return {
      perSecond: Number(/finished in [^,]+, ([\d.]+) req\/s/.exec(output)?.[1] ?? Number.NaN),
      p50Ms: durations[Math.floor(durations.length * 0.5)] ?? Number.NaN,
      p99Ms: durations[Math.floor(durations.length * 0.99)] ?? Number.NaN,
      failed: (counts?.slice(2) ?? []).reduce((sum, count) => sum + Number(count), 0),
    }
  } finally {
    rmSync(log, { force: true })
  }
}

/** The bytes per second that TLS clients receive from a source without an end. */
export async function loadByOpenssl(port: number, connections: number): Promise<number> {
  const one = `timeout ${seconds} openssl s_client -connect 127.0.0.1:${port} -servername localhost -quiet -ign_eof 2>/dev/null </dev/null | wc -c`
  const counts = await Promise.all(
    Array.from({ length: connections }, async () => Number((await text(['sh', '-c', one])).trim())),
  )
  return counts.reduce((sum, count) => sum + count, 0) / seconds
}

async function text(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const [program = '', ...args] = pinned(command, lastCore)
  const { stdout } = await run(program, args, {
    env: { ...process.env, ...env },
    timeout: seconds * 1000 + slackMs,
    maxBuffer: 16 << 20,
  })
  return stdout
}

const unitBytes: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }

function bytes(match: RegExpExecArray | null): number {
  const [, value, unit = ''] = match ?? []
  return Number(value ?? Number.NaN) * (unitBytes[unit] ?? Number.NaN)
}

const unitMs: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 }

function milliseconds(match: RegExpExecArray | null): number {
  const [, value, unit = ''] = match ?? []
  return Number(value ?? Number.NaN) * (unitMs[unit] ?? Number.NaN)
}
