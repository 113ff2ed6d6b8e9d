import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import process from 'node:process'
import { pino } from 'pino'
import { keepAcceptedConnections } from '../../src/launch/accept-queues.ts'
import { roostParts } from '../../src/launch/parts/roost-parts.ts'
import { createSupervisor } from '../support/supervised-parts.ts'
import type { Supervisor } from '../../src/launch/parts/supervisor.ts'
import { GatewayScene, sceneHost, servingProcesses } from '../support/gateway-scene.ts'
import { sendPaced } from '../support/paced-requests.ts'
import type { PacedRequests } from '../support/paced-requests.ts'
import { commandLineOf } from '../support/processes.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000
const handOvers = 3

describe('a gateway that is restarted under its supervisor', function () {
  this.timeout(4 * limitMs)
  let scene: GatewayScene
  let supervisor: Supervisor
  let load: PacedRequests | undefined
  let said: string[]

  before(function () {
    keepAcceptedConnections()
    // Where the kernel resets connections that wait at a port that closes, some may break.
    if (readFileSync('/proc/sys/net/ipv4/tcp_migrate_req', 'utf8').trim() !== '1') this.skip()
  })
  beforeEach(async () => {
    said = []
    scene = await GatewayScene.open()
    const at = `http://127.0.0.1:${scene.metricsPort}`
    const all = roostParts({
      env: scene.environment,
      apiAt: at,
      workerAt: at,
      agentAt: at,
      gatewayAt: at,
      gatewayDir: path.join(scene.directory, 'gateway'),
      confinements: undefined,
      afterApi: async () => await Promise.resolve(),
    })
    const log = (line: string): void => void said.push(line)
    supervisor = createSupervisor({
      parts: all.filter(({ name }) => name === 'gateway'),
      runDirectory: path.join(scene.directory, 'run'),
      environment: process.env,
      log: pino({ level: 'info' }, { write: log }),
      onLine: (_part, line) => log(line),
    })
    await supervisor.start()
  })
  afterEach(async () => {
    await load?.end()
    await supervisor.stop()
    await scene.close()
  })

  const count = (line: string): number => said.filter((each) => each.includes(line)).length
  const gatewayPid = (): number => {
    const text = readFileSync(path.join(scene.directory, 'run', 'gateway.json'), 'utf8')
    return (JSON.parse(text) as { readonly pid: number }).pid
  }
  const isRunning = (pid: number): boolean => commandLineOf(pid) !== ''

  for (const keepAlive of [false, true]) {
    it(`loses no request: ${keepAlive ? 'connections that are kept' : 'a connection for each'}`, async () => {
      load = sendPaced({ port: scene.port, host: sceneHost, keepAlive })
      await load.more(200)
      for (let time = 1; time <= handOvers; time++) {
        const old = gatewayPid()
        process.kill(old, 'SIGTERM')
        await until('a successor is ready', () => count('gateway is ready again') === time, { limitMs })
        assert.notEqual(gatewayPid(), old)
        await until('the old gateway has left', () => !isRunning(old), { limitMs })
        await load.more(200)
      }
      await load.end()
      assert.deepEqual(load.failed, [], said.join('\n'))
      assert.equal(count('could not'), 0)
    })
  }

  for (const keepAlive of [false, true]) {
    const connections = keepAlive ? 'connections that are kept' : 'a connection for each'
    it(`loses no request if its main process is killed: ${connections}`, async () => {
      load = sendPaced({ port: scene.port, host: sceneHost, keepAlive })
      await load.more(200)
      const serving = servingProcesses(gatewayPid())
      process.kill(gatewayPid(), 'SIGKILL')
      await until('a successor is ready', () => count('gateway is ready again') === 1, { limitMs })
      await until('what the old one left has ended', () => !serving.some(isRunning), { limitMs })
      await load.more(200)
      await load.end()
      assert.deepEqual(load.failed, [], said.join('\n'))
    })
  }

  it('gives what waits at a serving process that is killed to the other one', async () => {
    const [stuck] = servingProcesses(gatewayPid())
    assert.ok(stuck !== undefined)
    process.kill(stuck, 'SIGSTOP')
    load = sendPaced({ port: scene.port, host: sceneHost, keepAlive: false })
    await load.more(20)
    const waiting = (): number => {
      const queue = execFileSync('ss', ['-Hltn', `sport = :${scene.port}`], { encoding: 'utf8' })
      return Math.max(...queue.split('\n').map((line) => Number(line.split(/ +/)[1] ?? 0)))
    }
    await until('some connections wait', () => waiting() > 5, { limitMs })
    process.kill(stuck, 'SIGKILL')
    await load.more(100)
    await load.end()
    assert.deepEqual(load.failed, [], said.join('\n'))
  })

  it('serves on for as long as its successor is not ready, and all stop with the supervisor', async () => {
    load = sendPaced({ port: scene.port, host: sceneHost, keepAlive: false })
    const old = gatewayPid()
    process.kill(old, 'SIGTERM')
    await until('it wants to leave', () => count('wants to leave') === 1, { limitMs })
    const successor = await until(
      'a successor runs',
      () => (gatewayPid() === old ? undefined : gatewayPid()),
      { limitMs },
    )
    process.kill(successor, 'SIGKILL')
    await until('another is ready', () => count('gateway is ready again') === 1, { limitMs })
    await until('the old gateway has left', () => !isRunning(old), { limitMs })
    await load.end()
    assert.deepEqual(load.failed, [], said.join('\n'))
    const serving = servingProcesses(gatewayPid())
    assert.equal(serving.length, 2)
    process.kill(gatewayPid(), 'SIGTERM')
    await until('it wants to leave, too', () => count('wants to leave') === 2, { limitMs })
    const startedMs = performance.now()
    await supervisor.stop()
    assert.ok(performance.now() - startedMs < 10_000)
    assert.deepEqual(serving.filter(isRunning), [])
  })
})
