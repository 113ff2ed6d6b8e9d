import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { createApiClient } from './api-client.ts'
import type { ApiClient } from './api-client.ts'
import { processesOf } from './processes.ts'
import { until } from './until.ts'

/**
 * A real stack, started as `npm start` does after set-up, on a data directory and ports of its own. Nothing
 * in it is faked unless `env` says so. As root it has to run in a network namespace that the runner made,
 * because its VMs get TAP devices.
 */
export interface Stack {
  readonly dataDir: string
  readonly apiUrl: string
  readonly temporalUiUrl: string
  /** The API as the user `admin`. */
  readonly api: ApiClient
  readonly token: string
  /** `host:port` of the image registry, as OCI clients write it. */
  readonly registry: string
  /** The output of the stack so far, over all its starts. */
  output(): string
  pidOf(part: string): number
  /**
   * Kills a part, and resolves when the supervisor has started it again. With `group` all that the part has
   * started is killed with it.
   */
  killPart(part: string, whole?: 'group'): Promise<void>
  /** Ends the stack like Ctrl-C, and resolves with how long that took. The data stay. */
  interrupt(): Promise<number>
  readonly supervisorPid: number
  /** Resolves when the supervisor is gone, for a test that killed it. */
  ended(): Promise<void>
  /** Starts the stack again after `interrupt` or `ended`, on the same data directory and ports. */
  startAgain(): Promise<void>
  /** Ends the stack if it runs, and removes its data. Throws if a process of the stack is left. */
  remove(): Promise<void>
}

const checkout = path.resolve(import.meta.dirname, '../..')
/** Printed once every part is up. */
const readyText = 'Roost runs.'
const readyLimitMs = 120_000
const stopLimitMs = 20_000
const restartLimitMs = 60_000
/** How many networks there are for stacks. They are below the one that the benchmarks use themselves. */
const subnets = 63
let stacks = 0

export async function startStack(env: Readonly<Record<string, string>> = {}): Promise<Stack> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'roost-stack-'))
  const ports = await rememberedPorts(path.join(dataDir, 'test-ports.json'), ['api', 'ui'])
  const apiUrl = `http://127.0.0.1:${ports.api}`
  // The networks that follow from the data directories of two stacks may be the same one, and then the VMs of
  // the second stack can not be reached.
  const subnet = `10.${64 + (stacks++ % subnets)}.0.0/16`
  const lines: string[] = []
  let child: ChildProcess | undefined
  let api: ApiClient | undefined
  let token = ''

  const start = async (): Promise<void> => {
    const firstLine = lines.length
    const started = spawn(process.execPath, [path.join(checkout, 'src/bin/stack.ts')], {
      cwd: checkout,
      env: {
        ...process.env,
        ROOST_DATA_DIR: dataDir,
        ROOST_API_PORT: String(ports.api),
        ROOST_TEMPORAL_UI_PORT: String(ports.ui),
        ROOST_VM_SUBNET: subnet,
        // The limits are high, because tests change a few instances over and over.
        ROOST_SLEEPS_PER_MINUTE: '100000',
        ROOST_CHANGES_PER_MINUTE: '100000',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = started
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => lines.push(text))
    }
    try {
      await until(
        `the stack is ready`,
        async () => {
          if (started.exitCode !== null) throw new Error(`the stack ended with ${started.exitCode}`)
          return lines.slice(firstLine).join('').includes(readyText)
        },
        { limitMs: readyLimitMs },
      )
    } catch (cause) {
      started.kill('SIGKILL')
      throw new Error(`the stack did not start; it printed:\n${lines.join('')}`, { cause })
    }
    token = readFileSync(path.join(dataDir, 'token'), 'utf8').trim()
    api = createApiClient({ url: apiUrl, token })
  }

  const end = async (): Promise<number> => {
    const running = child
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return 0
    const startedMs = performance.now()
    const timer = setTimeout(() => running.kill('SIGKILL'), stopLimitMs)
    running.kill('SIGINT')
    await once(running, 'exit')
    clearTimeout(timer)
    await api?.close()
    return performance.now() - startedMs
  }

  await start()
  return {
    dataDir,
    apiUrl,
    temporalUiUrl: `http://127.0.0.1:${ports.ui}`,
    get api() {
      if (api === undefined) throw new Error('the stack does not run')
      return api
    },
    get token() {
      return token
    },
    get registry() {
      const text = readFileSync(path.join(dataDir, 'stack.json'), 'utf8')
      return new URL((JSON.parse(text) as { registryUrl: string }).registryUrl).host
    },
    output: () => lines.join(''),
    pidOf: (part) => pidOf(dataDir, part),
    async killPart(part, whole) {
      const firstLine = lines.length
      const again = new RegExp(`\\b${part} is ready again`)
      const pid = pidOf(dataDir, part)
      process.kill(whole === 'group' ? -pid : pid, 'SIGKILL')
      await until(`${part} is ready again`, () => again.test(lines.slice(firstLine).join('')), {
        limitMs: restartLimitMs,
      })
    },
    interrupt: end,
    get supervisorPid() {
      return child?.pid ?? 0
    },
    async ended() {
      const running = child
      if (running !== undefined && running.exitCode === null && running.signalCode === null)
        await once(running, 'exit')
      await api?.close()
    },
    startAgain: start,
    async remove() {
      await end()
      const left = processesOf(dataDir)
      rmSync(dataDir, { recursive: true, force: true })
      if (left.length > 0) throw new Error(`left behind: ${JSON.stringify(left)}`)
    },
  }
}

function pidOf(dataDir: string, part: string): number {
  const text = readFileSync(path.join(dataDir, 'run', `${part}.json`), 'utf8')
  return (JSON.parse(text) as { pid: number }).pid
}
