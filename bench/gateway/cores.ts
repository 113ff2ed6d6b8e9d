import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { GatewayScene, gatewayProgram, sceneHost } from '../../test/support/gateway-scene.ts'
import { until } from '../../test/support/until.ts'
import { median } from '../load.ts'
import type { Finding, Section } from '../report.ts'
import { untilListens } from './listening.ts'
import { loadByWrk, seconds } from './load-tools.ts'
import { lastCore, pinned } from './pinned.ts'
import { processorSeconds } from './processor-time.ts'

/**
 * The number of rounds. Each round measures both gateways one after the other, so that other work on the
 * machine slows both.
 */
const rounds = 7
/** The number of rounds that do not count: after them the code is compiled. */
const warmUpRounds = 3
const connections = 64
const processCounts = [1, 2] as const
/** How much more processor time a request may cost if the gateway serves with two processes. */
const aimRatio = 1.1
const readyLimitMs = 30_000
/** The port on which the sample listens. */
const samplePort = 8080
const sample = path.resolve(import.meta.dirname, '../../samples/hello/hello.c')

interface Measured {
  readonly perSecond: number
  readonly costUs: number
}

interface Running {
  readonly scene: GatewayScene
  readonly main: ChildProcess
  readonly measured: Measured[]
}

/**
 * Compares one serving process with two: whole gateways with all their processes, and one application that
 * needs less processor time than either. The load tool and the application have one core, and two cores are
 * not enough for all, so requests per second say little there; the processor time for each request counts.
 */
export async function benchCores(): Promise<Section> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-bench-cores-'))
  const hello = path.join(directory, 'hello')
  execFileSync('musl-gcc', ['-O2', '-static', '-o', hello, sample])
  const [program = '', ...args] = pinned([hello], lastCore)
  const application = spawn(program, args, { stdio: 'ignore' })
  const gateways: Running[] = []
  try {
    await untilListens(samplePort, () => application.exitCode !== null)
    for (const processes of processCounts) gateways.push(await start(processes))
    for (let round = -warmUpRounds; round < rounds; round++) {
      for (const gateway of gateways) {
        const one = await measure(gateway)
        if (round >= 0) gateway.measured.push(one)
      }
    }
    return report(gateways.map(({ measured }) => measured))
  } finally {
    for (const { main, scene } of gateways) {
      main.kill('SIGINT')
      if (main.exitCode === null) await once(main, 'exit')
      await scene.close()
    }
    application.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  }
}

async function start(processes: number): Promise<Running> {
  const scene = await GatewayScene.open(samplePort)
  const env = {
    ...process.env,
    ...scene.environment,
    ROOST_GATEWAY_PROCESSES: String(processes),
    ROOST_LOG_LEVEL: 'warn',
  }
  const main = spawn(process.execPath, [gatewayProgram], { env, stdio: ['ignore', 'inherit', 'inherit'] })
  await until('the gateway is ready', async () => (await scene.health('/readyz')) !== undefined, {
    limitMs: readyLimitMs,
  })
  return { scene, main, measured: [] }
}

async function measure({ scene, main }: Running): Promise<Measured> {
  const before = processorSeconds(main.pid ?? 0)
  const { perSecond, failed } = await loadByWrk(`http://127.0.0.1:${scene.port}/`, connections, {
    host: sceneHost,
  })
  if (failed > 0) throw new Error(`${failed} requests failed`)
  const used = processorSeconds(main.pid ?? 0) - before
  return { perSecond, costUs: (used * 1e6) / (perSecond * seconds) }
}

function report(all: readonly (readonly Measured[])[]): Section {
  const [one = [], two = []] = all
  const findings: Finding[] = all.map((measured, at) => ({
    what: `${processCounts[at]} serving process${at === 0 ? '' : 'es'}`,
    figure: `${median(measured.map(({ perSecond }) => perSecond)).toFixed(0)}/s, ${median(measured.map(({ costUs }) => costUs)).toFixed(1)} µs each`,
  }))
  const ratio = median(two.map(({ costUs }, round) => costUs / (one[round]?.costUs ?? Number.NaN)))
  findings.push({
    what: 'processor time for a request with two, to that with one',
    figure: ratio.toFixed(2),
    aim: `not more than ${aimRatio.toFixed(2)}`,
  })
  return {
    title: `cores: medians of ${rounds} rounds, ${connections} connections of HTTP/1.1, all processes of the gateway together`,
    findings,
  }
}
