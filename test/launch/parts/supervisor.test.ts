import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pino } from 'pino'
import { PlatformEnd } from '../../../src/launch/end-signals.ts'
import type { Part } from '../../../src/launch/parts/part.ts'
import { identify, isRunning } from '../../../src/launch/parts/process-identity.ts'
import { endStaleProcesses } from '../../../src/launch/parts/stale-processes.ts'
import { PartStartError } from '../../../src/launch/parts/part-run.ts'
import { createSupervisor } from '../../support/supervised-parts.ts'
import type { Supervisor } from '../../../src/launch/parts/supervisor.ts'
import { until } from '../../support/until.ts'
import { createFakeParts } from './fake-parts.ts'
import type { FakeParts } from './fake-parts.ts'

describe('the supervisor', () => {
  let directory: string
  let fake: FakeParts
  let running: Supervisor | undefined

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-supervisor-'))
    fake = createFakeParts(directory)
    running = undefined
  })

  afterEach(async () => {
    await running?.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  function supervise(...parts: readonly ReturnType<FakeParts['part']>[]): Supervisor {
    running = createSupervisor(fake.options(parts))
    return running
  }

  function pidOf(part: string): number {
    const file = path.join(directory, 'run', `${part}.json`)
    return (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid
  }

  it('starts each part when the one before is ready', async () => {
    await supervise(fake.part('one'), fake.part('two'), fake.part('three')).start()
    assert.deepEqual(fake.journal(), [
      'start one',
      'ready one',
      'start two',
      'ready two',
      'start three',
      'ready three',
    ])
  })

  it('starts the next part only after `afterFirstReady` of the one before is done', async () => {
    const done: string[] = []
    const first = {
      ...fake.part('one'),
      async afterFirstReady() {
        done.push(...fake.journal())
      },
    }
    await supervise(first, fake.part('two')).start()
    assert.deepEqual(done, ['start one', 'ready one'])
  })

  it('stops the parts in the reverse order', async () => {
    const supervisor = supervise(fake.part('one'), fake.part('two'))
    await supervisor.start()
    await supervisor.stop()
    assert.deepEqual(fake.journal().slice(-2), ['stop two', 'stop one'])
    assert.deepEqual(readdirSync(path.join(directory, 'run')), [], 'no part is remembered as running')
  })

  it('ends a part that has virtual machines by the signal that leaves them, if they are to stay', async () => {
    const [agent, other] = [fake.part('one', { leavesVms: true }), fake.part('two')]
    for (const [end, said] of [
      [PlatformEnd.KeepVms, 'leave one'],
      [PlatformEnd.EndVms, 'stop one'],
    ] as const) {
      const supervisor = supervise(agent, other)
      await supervisor.start()
      await supervisor.stop(end)
      assert.deepEqual(fake.journal().slice(-2), ['stop two', said])
    }
  })

  it('stops once: whoever stops it again waits, and changes nothing', async () => {
    const supervisor = supervise(fake.part('one', { leavesVms: true }))
    await supervisor.start()
    const first = supervisor.stop(PlatformEnd.KeepVms)
    await supervisor.stop(PlatformEnd.EndVms)
    await first
    assert.equal(fake.journal().at(-1), 'leave one')
  })

  it('starts a part again that was killed, and leaves the others alone', async () => {
    await supervise(fake.part('one'), fake.part('two')).start()
    const other = pidOf('one')
    process.kill(pidOf('two'), 'SIGKILL')
    await until('two is ready again', () => count('ready two') === 2, { limitMs: 30_000 })
    assert.equal(pidOf('one'), other)
  })

  it('makes no pause before it starts one of Roost’s own parts again', async () => {
    const pauses = async (part: Part): Promise<readonly number[]> => {
      const said: string[] = []
      const log = pino({}, { write: (line: string) => void said.push(line) })
      running = createSupervisor({ ...fake.options([part]), log })
      await running.start()
      process.kill(pidOf(part.name), 'SIGKILL')
      await until('it is ready again', () => said.some((line) => line.includes('is ready again')), {
        limitMs: 30_000,
      })
      await running.stop()
      return said.flatMap((line) => (JSON.parse(line) as { readonly delayMs?: number }).delayMs ?? [])
    }
    assert.deepEqual(await pauses({ ...fake.part('one'), readsSettings: true }), [0])
    assert.deepEqual(await pauses(fake.part('two')), [200])
  })

  it('starts a part that keeps crashing before it is ready once per step of the back-off', async () => {
    await supervise(fake.part('one', { crash: { code: 1, times: 'after-first' } })).start()
    const killedMs = performance.now()
    process.kill(pidOf('one'), 'SIGKILL')
    await until('it was started a third and a fourth time', () => count('start one') >= 4, {
      limitMs: 30_000,
    })
    // The pauses before the starts after the crash are 0.2 s, 0.5 s and 1 s.
    assert.ok(performance.now() - killedMs > 1_650)
  })

  it('fails a start whose part ends before it is ready, with the last lines of that part', async () => {
    const supervisor = supervise(fake.part('one'), fake.part('two', { crash: { code: 7, times: 'always' } }))
    await assert.rejects(supervisor.start(), (error: Error) => {
      assert.ok(error instanceof PartStartError)
      assert.match(error.message, /^two ended with code 7 before it was ready; it said last:/)
      assert.match(error.message, /it hurts/)
      return true
    })
  })

  it('fails a start whose part is not ready in time', async () => {
    const never = {
      ...fake.part('one'),
      ready: (signal: AbortSignal) => once(signal, 'abort').then(rejectAborted),
    }
    running = createSupervisor({ ...fake.options([never]), startLimitMs: 200 })
    await assert.rejects(running.start(), /one was not ready after 0\.2 s/)
  })

  it('kills a part that ignores its signal once its limit has passed', async () => {
    const supervisor = supervise({ ...fake.part('one', { ignoresSignals: true }), stopLimitMs: 300 })
    await supervisor.start()
    const identity = identify(pidOf('one'))
    assert.ok(identity)
    const startedMs = performance.now()
    await supervisor.stop()
    assert.ok(performance.now() - startedMs < 5_000)
    assert.equal(isRunning(identity), false)
  })

  it('stops all parts within its own limit, even if the parts have longer ones', async () => {
    const parts = ['one', 'two', 'three'].map((name) => ({
      ...fake.part(name, { ignoresSignals: true }),
      stopLimitMs: 60_000,
    }))
    running = createSupervisor({ ...fake.options(parts), stopLimitMs: 400 })
    await running.start()
    const startedMs = performance.now()
    await running.stop()
    assert.ok(performance.now() - startedMs < 20_000)
  })

  it('ends the processes that a part has started', async () => {
    const childFile = path.join(directory, 'child')
    const supervisor = supervise(fake.part('one', { childFile }))
    await supervisor.start()
    const child = identify(Number(readFileSync(childFile, 'utf8')))
    assert.ok(child)
    await supervisor.stop()
    await until('the child is gone', () => !isRunning(child), { limitMs: 30_000 })
  })

  it('does not start a part again once it stops', async () => {
    const supervisor = supervise(fake.part('one'))
    await supervisor.start()
    process.kill(pidOf('one'), 'SIGKILL')
    await supervisor.stop()
    assert.equal(count('start one'), 1)
  })

  it('passes on every line of a part, both of its outputs', async () => {
    await supervise(fake.part('one', { crash: { code: 1, times: 'always' } }))
      .start()
      .catch(() => undefined)
    assert.deepEqual(fake.lines.toSorted(), ['one: hello from one', 'one: it hurts'])
  })

  it('ends its parts even when it is killed itself', async () => {
    const program = path.join(import.meta.dirname, 'supervise-forever.ts')
    const child = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    const identity = identify(pidOf('lonely'))
    assert.ok(identity)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await until('the part is gone', () => !isRunning(identity), { limitMs: 30_000 })
  })

  describe('after another supervisor that was killed', () => {
    it('ends parts that are still running, by force if necessary', async () => {
      const child = spawn('sh', ['-c', "trap '' TERM; echo up; while :; do sleep 0.05; done"], {
        detached: true,
      })
      await once(child.stdout, 'data')
      const identity = identify(Number(child.pid))
      assert.ok(identity)
      writeRunFile('old', { ...identity, stopSignal: 'SIGTERM' })
      const exited = once(child, 'exit')
      assert.deepEqual(await endStaleProcesses(path.join(directory, 'run')), ['old'])
      const [, signal] = (await exited) as [number | null, string | null]
      assert.equal(signal, 'SIGKILL')
      assert.deepEqual(readdirSync(path.join(directory, 'run')), [])
    })

    it('leaves a process alone that only has the same process id', async () => {
      const own = identify(process.pid)
      assert.ok(own)
      writeRunFile('old', { pid: own.pid, startTicks: own.startTicks - 1, stopSignal: 'SIGKILL' })
      assert.deepEqual(await endStaleProcesses(path.join(directory, 'run')), [])
    })

    it('ignores a file that was cut off', async () => {
      mkdirSync(path.join(directory, 'run'))
      writeFileSync(path.join(directory, 'run', 'old.json'), '{"pid":')
      assert.deepEqual(await endStaleProcesses(path.join(directory, 'run')), [])
    })
  })

  function writeRunFile(name: string, content: object): void {
    mkdirSync(path.join(directory, 'run'), { recursive: true })
    writeFileSync(path.join(directory, 'run', `${name}.json`), JSON.stringify(content))
  }

  function count(line: string): number {
    return fake.journal().filter((one) => one === line).length
  }
})

function rejectAborted(): never {
  throw new Error('aborted')
}
