import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { freePort } from '../../src/primitives/free-ports.ts'
import { until } from './until.ts'

/** A real Prometheus of the test, which scrapes what its configuration says. */
export interface Prometheus {
  /** Runs a query and returns what it finds. Throws if Prometheus does not understand it. */
  query(expression: string): Promise<readonly QueryResult[]>
  targets(): Promise<readonly Target[]>
  /** What Prometheus complained about. */
  said(): string
  close(): Promise<void>
}

export interface QueryResult {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [time: number, value: string]
}

export interface Target {
  readonly labels: Readonly<Record<string, string>>
  readonly health: string
  readonly lastError: string
}

const startLimitMs = 60_000

/** The path of a program of Debian's package. */
export function prometheusProgram(name: 'prometheus' | 'promtool'): string {
  return path.join(requireInstalled(readInstalled(), 'prometheus'), name)
}

/** Starts Prometheus with a configuration. Its data is in the configuration's directory. */
export async function startPrometheus(configFile: string): Promise<Prometheus> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = [
    `--config.file=${configFile}`,
    `--storage.tsdb.path=${path.join(path.dirname(configFile), 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ]
  const child = spawn(prometheusProgram('prometheus'), args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  const ended = once(child, 'exit')

  async function ask(pathAndQuery: string): Promise<unknown> {
    const answer = (await (await fetch(`${url}/api/v1/${pathAndQuery}`)).json()) as Answer
    if (answer.status !== 'success') throw new Error(`${pathAndQuery}: ${answer.error ?? 'no success'}`)
    return answer.data
  }
  await until(
    'Prometheus is ready',
    async () => {
      if (child.exitCode !== null) throw new Error(`Prometheus ended: ${said}`)
      return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true
    },
    { limitMs: startLimitMs },
  )
  return {
    async query(expression) {
      const data = (await ask(`query?query=${encodeURIComponent(expression)}`)) as {
        readonly result: readonly QueryResult[]
      }
      return data.result
    },
    said: () => said,
    async targets() {
      const data = (await ask('targets?state=active')) as { readonly activeTargets: readonly Target[] }
      return data.activeTargets
    },
    async close() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

interface Answer {
  readonly status: string
  readonly error?: string
  readonly data?: unknown
}
