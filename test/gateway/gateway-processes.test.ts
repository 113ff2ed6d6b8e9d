import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, connect } from 'node:net'
import process from 'node:process'
import { connect as connectTls } from 'node:tls'
import {
  GatewayScene,
  gatewayProgram,
  sceneHost,
  sceneServiceUuid,
  servingProcesses,
} from '../support/gateway-scene.ts'
import { readAll } from '../support/gateway-http.ts'
import { sendPaced } from '../support/paced-requests.ts'
import { commandLineOf } from '../support/processes.ts'
import { until } from '../support/until.ts'

const limitMs = 50_000
const get = `GET / HTTP/1.1\r\nHost: ${sceneHost}\r\n\r\n`

describe('a gateway with two serving processes', function () {
  this.timeout(2 * limitMs)
  let scene: GatewayScene
  let main: ChildProcess
  let said: string

  beforeEach(async () => {
    scene = await GatewayScene.open()
    said = ''
  })
  afterEach(async () => {
    const serving = servingProcesses(pid())
    main.kill('SIGKILL')
    if (main.exitCode === null && main.signalCode === null) await once(main, 'exit')
    await until('no process is left', () => !serving.some(isRunning), { limitMs })
    await scene.close()
  })

  const pid = (): number => main.pid ?? 0
  const isRunning = (one: number): boolean => commandLineOf(one) !== ''
  const untilReady = async (): Promise<void> => {
    await until('it is ready', async () => (await scene.health('/readyz')) !== undefined, { limitMs })
  }

  async function start(): Promise<void> {
    main = spawn(process.execPath, [gatewayProgram], {
      env: { PATH: process.env['PATH'], ...scene.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [main.stdout, main.stderr]) stream?.on('data', (chunk) => (said += String(chunk)))
    await untilReady()
  }

  it('goes on when one of them is killed: only requests on its own connections may fail', async () => {
    await start()
    const [victim = 0, other = 0] = servingProcesses(pid())
    const load = sendPaced({ port: scene.port, host: sceneHost, keepAlive: false })
    await load.more(200)
    process.kill(victim, 'SIGKILL')
    await until('its end is noticed', () => said.includes('a serving process ended with SIGKILL'), {
      limitMs,
    })
    const noticedMs = performance.now()
    await load.more(200)
    await until('there are two again', () => servingProcesses(pid()).length === 2, { limitMs })
    await untilReady()
    await load.more(200)
    await load.end()
    assert.deepEqual(
      load.failed.filter(({ beganMs }) => beganMs > noticedMs),
      [],
    )
    assert.ok(load.failed.length < 50, JSON.stringify(load.failed))
    assert.ok(servingProcesses(pid()).includes(other))
  })

  it('counts what both of them did, also after one has ended, and shows what both know once', async () => {
    await start()
    const load = sendPaced({ port: scene.port, host: sceneHost, keepAlive: false })
    await load.more(100)
    await load.end()
    const line = 'roost_gateway_request_duration_seconds_count{protocol="http/1.1",status="2xx"}'
    const counted = async (): Promise<boolean> => (await scene.metric(line)) === load.answered
    await until('all requests are counted', counted, { limitMs })
    assert.equal(await scene.metric('roost_gateway_wanted_ports'), 2)
    assert.equal(await scene.metric('roost_gateway_listening_ports'), 2)
    assert.equal(await scene.metric('roost_gateway_hosts'), 1)
    assert.ok(((await scene.metric('roost_gateway_routes_age_seconds')) ?? 60) < 60)
    process.kill(servingProcesses(pid())[0] ?? 0, 'SIGKILL')
    await until('its end is noticed', () => said.includes('a serving process ended with'), { limitMs })
    assert.equal(await scene.metric(line), load.answered)
  })

  it('divides the traffic of a rollout in both of them, and tells what the new version got in both', async () => {
    scene.rollout = { uuid: 'rollout-1', percent: 50, held: false }
    await start()
    const load = sendPaced({ port: scene.port, host: sceneHost, keepAlive: false })
    await load.more(100)
    await load.end()
    const counted = async (uuid: string): Promise<number> =>
      (await scene.traffic(sceneServiceUuid, 'rollout-1'))[uuid]?.requests['2xx'] ?? 0
    await until('all requests are counted', async () => (await counted(sceneServiceUuid)) === load.answered, {
      limitMs,
    })
    // Each process divides by itself, so each may be at most one request behind.
    const toNew = await counted('rollout-1')
    assert.ok(toNew <= load.answered / 2 && toNew >= load.answered / 2 - 2, `${toNew} of ${load.answered}`)
    assert.deepEqual(Object.keys(await scene.traffic(sceneServiceUuid)), [sceneServiceUuid])
  })

  it('resumes a TLS session in whichever of them the next connection is', async () => {
    await start()
    const open = (session?: Buffer) =>
      connectTls({
        host: '127.0.0.1',
        port: 443 + scene.offset,
        servername: 'web.roost.localhost',
        ca: scene.root,
        ...(session === undefined ? {} : { session }),
      })
    const first = open()
    const [session] = (await once(first, 'session')) as [Buffer]
    first.destroy()
    const resumed: boolean[] = []
    // With one secret for each process, half of these connections would find no session.
    for (let time = 0; time < 30; time++) {
      const next = open(session)
      await once(next, 'secureConnect')
      resumed.push(next.isSessionReused())
      next.destroy()
    }
    assert.deepEqual(new Set(resumed), new Set([true]))
  })

  it('is ready although a program has one of its ports, says so, and takes the port once it is free', async () => {
    const holder = createServer().listen(scene.port, '127.0.0.1')
    await once(holder, 'listening')
    await start()
    assert.match(said, /EADDRINUSE/)
    assert.equal(await scene.metric('roost_gateway_listening_ports'), 1)
    holder.close()
    await until('it listens', async () => (await scene.metric('roost_gateway_listening_ports')) === 2, {
      limitMs,
    })
  })

  it('leaves no process behind when its main process is killed', async () => {
    await start()
    const serving = servingProcesses(pid())
    assert.equal(serving.length, 2)
    main.kill('SIGKILL')
    await until('they are gone', () => !serving.some(isRunning), { limitMs })
  })

  it('drains on SIGTERM without a supervisor: an idle connection is answered once more', async () => {
    await start()
    const idle = connect(scene.port, '127.0.0.1')
    idle.write(get)
    await once(idle, 'data')
    main.kill('SIGTERM')
    const refused = async (): Promise<boolean> => {
      const socket = connect(scene.port, '127.0.0.1')
      const outcome = await Promise.race([
        once(socket, 'connect').then(() => false),
        once(socket, 'error').then(() => true),
      ]).catch(() => true)
      socket.destroy()
      return outcome
    }
    await until('no port listens', refused, { limitMs })
    idle.write(get)
    assert.match(await readAll(idle), /\r\nConnection: close\r\n[^]*hello$/i)
    await once(main, 'exit')
    assert.equal(main.exitCode, 0)
  })

  it('ends at once on SIGINT, and on a second SIGTERM', async () => {
    for (const signals of [['SIGINT'], ['SIGTERM', 'SIGTERM']] as const) {
      await start()
      const idle = connect(scene.port, '127.0.0.1')
      idle.on('error', () => undefined)
      idle.write(get)
      await once(idle, 'data')
      const startedMs = performance.now()
      for (const signal of signals) {
        main.kill(signal)
        if (signals.length > 1) await until('it drains', () => said.includes('draining'), { limitMs })
      }
      if (main.exitCode === null) await once(main, 'exit')
      assert.ok(performance.now() - startedMs < 15_000)
      assert.equal(main.exitCode, 0)
      idle.destroy()
    }
  })
})
