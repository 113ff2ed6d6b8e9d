import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockAgentDirectory } from '../../../src/host/agent/agent-directory.ts'
import { DirectoryInUse } from '../../../src/primitives/directory-lock.ts'
import { GarbageSweep } from '../../../src/host/agent/garbage-sweep.ts'
import { guestProcess } from '../../../src/host/instance/guest-process.ts'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { SerialQueue } from '../../../src/host/agent/serial-queue.ts'
import { noScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import type { LaunchSpec } from '../../../src/domain/host/api-protocol.ts'
import type { ContainerImage, KernelImage } from '../../../src/host/images/images.ts'
import { Machine, otherUuid, uuid } from './machine.ts'

const minuteMs = 60_000

describe('what a guest is to run', () => {
  const spec: LaunchSpec = {
    uuid,
    name: 'web',
    userUuid: otherUuid,
    image: 'a/b@sha256:0',
    memoryMb: 128,
    vcpus: 1,
    env: {},
    privateIp: '10.64.0.2',
    mac: '12:b0:0a:40:00:02',
    scaleToZero: noScaleToZero,
  }
  const image: ContainerImage = {
    kind: 'container',
    digest: 'sha256:0',
    rootfsPath: '/x',
    entrypoint: ['/entry'],
    command: ['serve', '--port', '80'],
    env: ['A=image', 'B=image', 'C=with=equals', 'D'],
    workingDirectory: '',
    user: 'app',
    labels: {},
  }
  const kernel: KernelImage = {
    kind: 'kernel',
    digest: 'sha256:0',
    kernelPath: '/k',
    kernelArgs: ['quiet'],
    command: ['default'],
    env: [],
    labels: {},
  }
  const argv = (args?: readonly string[]): readonly string[] =>
    guestProcess(args === undefined ? spec : { ...spec, args }, image).argv

  it('is the entrypoint with the instance’s arguments, or else with the image’s command', () => {
    assert.deepEqual(argv(), ['/entry', 'serve', '--port', '80'])
    assert.deepEqual(argv(['other']), ['/entry', 'other'])
    assert.deepEqual(guestProcess(spec, kernel).argv, ['default'])
    assert.deepEqual(guestProcess({ ...spec, args: ['x'] }, kernel).argv, ['x'])
  })

  it('no arguments, one empty one, and the whole command as one string are all the image’s command', () => {
    for (const args of [[], [''], ['serve --port 80']]) assert.deepEqual(argv(args), argv())
    assert.deepEqual(argv(['serve --port', '80']), ['/entry', 'serve --port', '80'])
    assert.deepEqual(argv(['', '']), ['/entry', '', ''])
  })

  it('has the image’s words instead of the image’s line before further arguments, and the entrypoint once', () => {
    const of = (args: readonly string[], change: Partial<ContainerImage>) =>
      guestProcess({ ...spec, args }, { ...image, ...change }).argv
    assert.deepEqual(argv(['/entry serve --port 80', '-v']), ['/entry', 'serve', '--port', '80', '-v'])
    assert.deepEqual(of(['/entry', 'x'], { command: [] }), ['/entry', 'x'])
    assert.deepEqual(of(['serve "a b"', 'x'], { entrypoint: [], command: ['serve', 'a b'] }), [
      'serve',
      'a b',
      'x',
    ])
    assert.deepEqual(of(['', 'x'], { entrypoint: [], command: [] }), ['x'])
    const own = { ...kernel, command: ['app', '-q'] }
    assert.deepEqual(guestProcess({ ...spec, args: ['app -q', 'x'] }, own).argv, ['app', '-q', 'x'])
    assert.deepEqual(argv(['/entry serve', '-v']), ['/entry', '/entry serve', '-v'])
  })

  it('has variables of the platform, the image and the instance; a later source wins', () => {
    const { env } = guestProcess({ ...spec, env: { B: 'mine', ROOST_INSTANCE_UUID: 'mine' } }, image)
    assert.equal(env['A'], 'image')
    assert.equal(env['B'], 'mine')
    assert.equal(env['C'], 'with=equals')
    assert.equal(env['D'], '')
    assert.equal(env['ROOST_INSTANCE_NAME'], 'web')
    assert.equal(env['ROOST_INSTANCE_UUID'], 'mine')
    assert.equal(env['HOSTNAME'], 'web')
    assert.match(env['PATH'] ?? '', /\/usr\/bin/)
  })

  it('has a host name that a kernel accepts, however long the instance’s name is', () => {
    const { hostname } = guestProcess({ ...spec, name: `${'a'.repeat(62)}-${'b'.repeat(20)}` }, image)
    assert.equal(hostname, 'a'.repeat(62))
  })

  it('is refused if there is nothing to run, or if no kernel would accept it', () => {
    const refused = (change: Partial<LaunchSpec>, of: ContainerImage = image): HostStartError => {
      try {
        guestProcess({ ...spec, ...change }, of)
      } catch (error) {
        assert.ok(error instanceof HostStartError && error.final)
        return error
      }
      throw new Error('it was not refused')
    }
    refused({}, { ...image, entrypoint: [], command: [] })
    assert.match(refused({ env: { SECRET: 'x\0y' } }).message, /SECRET.*NUL/)
    assert.doesNotMatch(refused({ env: { SECRET: 'topsecret\0' } }).message, /topsecret/)
    refused({ args: ['x'.repeat(200_000)] })
    refused({ args: Array.from({ length: 20 }, () => 'x'.repeat(100_000)) })
    assert.ok(guestProcess({ ...spec, args: ['x'.repeat(100_000)] }, image).argv.length > 0)
  })
})

describe('garbage of a host', () => {
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  async function ageDirectory(): Promise<void> {
    await utimes(join(machine.directory, 'instances', uuid), 0, 0)
  }

  it('goes when the API has not listed it for a minute, and only then', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    await ageDirectory()
    const garbage = new GarbageSweep({
      agent: live.agent,
      ports: live.ports,
      list: async () => await Promise.resolve({ instances: [] }),
    })
    assert.deepEqual(await garbage.sweep(), [])
    machine.nowMs += minuteMs - 1
    assert.deepEqual(await garbage.sweep(), [])
    machine.nowMs += 1
    assert.deepEqual(await garbage.sweep(), [uuid])
    assert.equal(machine.host.running(), 0)
  })

  it('is removed at once from a host that was lost, and nothing else is', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    await live.agent.start({ instanceUuid: otherUuid, boot: 1 })
    const instances = [{ uuid: otherUuid, state: 'running' as const }]
    const list = async () => await Promise.resolve({ instances })
    const garbage = new GarbageSweep({ agent: live.agent, ports: live.ports, list })
    assert.deepEqual(await garbage.sweep({ wasLost: true }), [uuid])
    assert.equal(machine.host.running(uuid), 0)
    assert.equal(machine.host.running(otherUuid), 1)
  })

  it('of a host that was lost is also what sleeps there without a volume, which may come back', async () => {
    const live = await machine.readyAgent()
    const permit = { boot: 0, epoch: 0, permit: 1, stateful: false, graceMs: 0 }
    const sleeps = async (instanceUuid: string) => await live.agent.standBy({ instanceUuid, ...permit })
    machine.attach(otherUuid)
    assert.deepEqual([(await sleeps(uuid)).slept, (await sleeps(otherUuid)).slept], [true, true])
    const instances = [uuid, otherUuid].map((each) => ({ uuid: each, state: 'standby' as const }))
    const garbage = new GarbageSweep({
      agent: live.agent,
      ports: live.ports,
      list: async () => await Promise.resolve({ instances }),
    })
    assert.deepEqual(await garbage.sweep(), [])
    assert.deepEqual(await garbage.sweep({ wasLost: true }), [uuid])
    assert.deepEqual([...live.agent.entries.keys()], [otherUuid])
    assert.equal((await sleeps(uuid)).slept, true)
  })

  it('is no instance that the API lists, or listed in between', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    await ageDirectory()
    let listed = false
    const garbage = new GarbageSweep({
      agent: live.agent,
      ports: live.ports,
      list: async () =>
        await Promise.resolve({ instances: listed ? [{ uuid, state: 'running' as const }] : [] }),
    })
    for (const next of [false, true, false]) {
      listed = next
      assert.deepEqual(await garbage.sweep(), [])
      machine.nowMs += minuteMs
    }
    assert.equal(machine.host.running(), 1)
  })

  it('is no instance while the API does not answer', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    await ageDirectory()
    const garbage = new GarbageSweep({
      agent: live.agent,
      ports: live.ports,
      list: async () => await Promise.reject(new Error('the API is away')),
    })
    for (let round = 0; round < 3; round += 1) {
      await assert.rejects(garbage.sweep())
      machine.nowMs += minuteMs
    }
    assert.equal(machine.host.running(), 1)
  })

  it('is no instance that changed a moment ago', async () => {
    const live = await machine.readyAgent()
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    machine.nowMs = Date.now()
    const garbage = new GarbageSweep({
      agent: live.agent,
      ports: live.ports,
      list: async () => await Promise.resolve({ instances: [] }),
    })
    await garbage.sweep()
    await utimes(join(machine.directory, 'instances', uuid), 0, (machine.nowMs + minuteMs) / 1_000)
    machine.nowMs += minuteMs
    assert.deepEqual(await garbage.sweep(), [])
  })
})

describe('reports of ended boots', () => {
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  async function endOne(events: readonly ('fail' | 'gone')[]): Promise<void> {
    const live = await machine.readyAgent({ events })
    await live.agent.start({ instanceUuid: uuid, boot: 1 })
    await live.agent.stop({ instanceUuid: uuid, boot: 1, forced: true, graceMs: 0 })
    await live.reported()
    await live.outbox.close()
  }

  it('are repeated until they are taken', async () => {
    await endOne(['fail', 'fail'])
    assert.equal(machine.reports.length, 1)
  })

  it('are dropped when there is no workflow any more', async () => {
    await endOne(['gone'])
    assert.equal(machine.reports.length, 0)
  })
})

describe('reports of sockets that listen', () => {
  const boot = { instanceUuid: uuid, boot: 1 }
  let machine: Machine
  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    await machine.remove()
  })

  it('the first socket that listens is reported with its start, once', async () => {
    const live = await machine.readyAgent({ vmm: { listenAfterMs: 20 } })
    const { started } = await live.agent.start(boot)
    assert.equal(started.netTimeUs, undefined)
    await live.listened()
    await live.reported()
    await live.agent.check()
    const { started: now } = await live.agent.start(boot)
    assert.ok((now.netTimeUs ?? 0) > 0)
    assert.deepEqual(machine.starts, [now])
  })

  it('a socket that listened while nobody could be told is reported later, before the end', async () => {
    const live = await machine.readyAgent({ vmm: { listenAfterMs: 0 }, events: ['fail', 'fail'] })
    await live.agent.start(boot)
    await live.listened()
    await live.agent.stop({ ...boot, forced: true, graceMs: 0 })
    await live.reported()
    assert.deepEqual(machine.told, ['started', 'exited'])
  })

  it('a socket that listened while there was no agent is reported by the next', async () => {
    const first = await machine.readyAgent()
    const { started } = await first.agent.start(boot)
    first.kill()
    machine.host.openSocket(boot)
    const next = await machine.readyAgent()
    await next.reported()
    assert.deepEqual(
      machine.starts.map(({ netTimeUs, ...rest }) => [rest, typeof netTimeUs]),
      [[started, 'number']],
    )
  })
})

describe('the directory of an agent', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'roost-lock-'))
  })
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  it('belongs to one agent; a second agent is told who has it', () => {
    const lock = lockAgentDirectory(directory)
    assert.throws(
      () => lockAgentDirectory(directory),
      (error: unknown) => error instanceof DirectoryInUse && error.message.includes(String(process.pid)),
    )
    lock.release()
    lockAgentDirectory(directory).release()
  })

  it('is free as soon as its agent was killed, even while processes that the agent started live on', async () => {
    const source = new URL('../../../src/host/agent/agent-directory.ts', import.meta.url).href
    const holder = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { spawn } from 'node:child_process'
         const { lockAgentDirectory } = await import(${JSON.stringify(source)})
         lockAgentDirectory(${JSON.stringify(directory)})
         const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
         console.log(child.pid)
         setInterval(() => undefined, 1000)`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const [line] = (await once(holder.stdout, 'data')) as [Buffer]
    try {
      assert.throws(() => lockAgentDirectory(directory), DirectoryInUse)
      holder.kill('SIGKILL')
      await once(holder, 'exit')
      lockAgentDirectory(directory).release()
    } finally {
      process.kill(Number(line.toString()))
    }
  })
})

describe('a queue of tasks', () => {
  it('runs one task at a time in order, and goes on after failures', async () => {
    const queue = new SerialQueue()
    const order: string[] = []
    const task =
      (name: string, fails = false) =>
      async (): Promise<void> => {
        order.push(`${name} begins`)
        await Promise.resolve()
        order.push(`${name} ends`)
        if (fails) throw new Error(name)
      }
    const results = await Promise.allSettled([
      queue.run(task('a', true)),
      queue.run(task('b')),
      queue.run(task('c')),
    ])
    assert.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'fulfilled', 'fulfilled'],
    )
  })
})
