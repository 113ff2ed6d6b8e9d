import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { pino } from 'pino'
import { PlatformEnd } from '../../../src/launch/end-signals.ts'
import type { Part } from '../../../src/launch/parts/part.ts'
import { untilSucceeds } from '../../../src/launch/readiness.ts'
import { createSupervisor } from '../../support/supervised-parts.ts'
import type { PartRunOptions } from '../../../src/launch/parts/part-run.ts'
import { SupervisedPart } from '../../../src/launch/parts/supervised-part.ts'
import { supervise } from '../../../src/launch/parts/supervisor.ts'
import type { Supervisor } from '../../../src/launch/parts/supervisor.ts'
import { commandLineOf } from '../../support/processes.ts'
import { until } from '../../support/until.ts'

const limitMs = 30_000

/** What such a part may start. It ends at SIGTERM. */
function childProgram(journal: string): string {
  return `
    const { appendFileSync } = require('node:fs')
    const note = (what) => appendFileSync(${JSON.stringify(journal)}, what + ' ' + process.pid + '\\n')
    process.on('SIGTERM', () => { note('asked'); process.exit(0) })
    note('child')
    setInterval(() => undefined, 60_000)
  `
}

/**
 * A part that hands over its work. It writes what happens to a journal, each line with its process number.
 * With `stays` it does not end when it is let go, like a gateway whose clients stay, and it has a child.
 */
function program(journal: string, { stays }: { readonly stays: boolean }): string {
  return `
    const { appendFileSync } = require('node:fs')
    const note = (what) => appendFileSync(${JSON.stringify(journal)}, what + ' ' + process.pid + '\\n')
    process.on('SIGTERM', () => { note('leaving'); process.send('leaving') })
    process.on('SIGINT', () => process.exit(0))
    process.on('message', (message) => { note(message); if (!${stays}) process.exit(0) })
    process.on('disconnect', () => process.exit(1))
    ${stays} && require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(childProgram(journal))}])
    note('start')
  `
}

describe('a part that hands over its work', () => {
  let directory: string
  let supervisor: Supervisor
  let isReady: () => boolean

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-hand-over-'))
    writeFileSync(journalFile(), '')
    isReady = () => true
  })
  afterEach(async () => {
    await supervisor.stop()
    rmSync(directory, { recursive: true, force: true })
  })

  const journalFile = (): string => path.join(directory, 'journal')
  const journal = (): readonly string[] => readFileSync(journalFile(), 'utf8').split('\n').filter(Boolean)
  const started = (): readonly number[] =>
    journal().flatMap((line) => (line.startsWith('start ') ? [Number(line.slice(6))] : []))
  /** Resolves to the process that the first part has started. */
  const childRuns = async (): Promise<number> => {
    const line = () => journal().find((each) => each.startsWith('child '))
    return Number((await until('its child runs', line, { limitMs })).slice('child '.length))
  }
  const runFiles = (): readonly string[] => readdirSync(path.join(directory, 'run')).toSorted()
  const isRunning = (pid: number): boolean => commandLineOf(pid) !== ''

  function handingOver(stays: boolean): Part {
    return {
      name: 'one',
      program: process.execPath,
      args: ['-e', program(journalFile(), { stays })],
      handsOver: true,
      stopSignal: 'SIGINT',
      stopLimitMs: 5_000,
      ready: async (signal) =>
        await untilSucceeds(async () => {
          const last = started().at(-1)
          if (last === undefined || !isRunning(last) || !isReady()) throw new Error('not ready')
          await Promise.resolve()
        }, signal),
    }
  }

  const options = (): PartRunOptions => ({
    runDirectory: path.join(directory, 'run'),
    environment: process.env,
    log: pino({ level: 'silent' }),
    onLine: () => undefined,
  })

  async function start(stays = false): Promise<number> {
    supervisor = createSupervisor({ parts: [handingOver(stays)], ...options() })
    await supervisor.start()
    return started()[0] ?? 0
  }

  async function leave(pid: number): Promise<number> {
    const before = started().length
    process.kill(pid, 'SIGTERM')
    return await until('a successor starts', () => started()[before], { limitMs })
  }

  it('leaves only when its successor is ready, and is a part of its own until then', async () => {
    const old = await start()
    isReady = () => false
    const successor = await leave(old)
    await until('both are known', () => runFiles().length === 2, { limitMs })
    assert.deepEqual(runFiles(), [`one-leaving-${old}.json`, 'one.json'])
    assert.deepEqual(journal(), [`start ${old}`, `leaving ${old}`, `start ${successor}`])
    isReady = () => true
    await until('the old one has left', () => runFiles().length === 1, { limitMs })
    assert.equal(journal().at(-1), `let-go ${old}`)
    assert.deepEqual([isRunning(old), isRunning(successor)], [false, true])
  })

  it('goes on as long as its successors end before they are ready', async () => {
    const old = await start()
    isReady = () => false
    const first = await leave(old)
    process.kill(first, 'SIGKILL')
    const second = await until('another successor starts', () => started()[2], { limitMs })
    assert.ok(isRunning(old))
    isReady = () => true
    await until('the old one has left', () => !isRunning(old), { limitMs })
    assert.ok(isRunning(second))
  })

  it('ends with the supervisor, and so does its successor', async () => {
    const old = await start()
    isReady = () => false
    const successor = await leave(old)
    await supervisor.stop()
    assert.deepEqual([old, successor].filter(isRunning), [])
    assert.deepEqual(runFiles(), [])
  })

  it('is outlived by what it started if it is killed, until its successor is ready', async () => {
    const old = await start(true)
    const child = await childRuns()
    isReady = () => false
    process.kill(old, 'SIGKILL')
    await until('a successor starts', () => started()[1], { limitMs })
    assert.ok(isRunning(child))
    isReady = () => true
    await until('the child has ended', () => !isRunning(child), { limitMs })
    assert.deepEqual(
      journal().filter((line) => line.endsWith(` ${child}`)),
      [`child ${child}`, `asked ${child}`],
    )
  })

  it('is not outlived by what it started once the supervisor stops', async () => {
    const old = await start(true)
    const child = await childRuns()
    isReady = () => false
    process.kill(old, 'SIGKILL')
    await until('a successor starts', () => started()[1], { limitMs })
    await supervisor.stop()
    assert.deepEqual([child, ...started()].filter(isRunning), [])
  })

  describe('to a part of another version', () => {
    let parts: readonly SupervisedPart[]
    let ours: SupervisedPart
    let theirs: SupervisedPart

    beforeEach(async () => {
      const closing = new AbortController()
      ours = new SupervisedPart(handingOver(true), options(), closing.signal)
      theirs = new SupervisedPart(handingOver(false), options(), closing.signal)
      parts = [ours, theirs]
      supervisor = supervise(parts, closing)
      await ours.start()
    })

    /** A part is ready when its own process is, as one that has a port. */
    const startNext = async (part: SupervisedPart): Promise<void> => {
      const before = started().length
      isReady = () => started().length > before
      await part.start()
    }

    it('leaves when that is ready, in its own time, and is not started again', async () => {
      const [old = 0] = started()
      await ours.handOverTo(async () => await startNext(theirs))
      assert.deepEqual(started().map(isRunning), [true, true])
      await until('it was let go', () => journal().includes(`let-go ${old}`), { limitMs })
      process.kill(old, 'SIGKILL')
      await until('its name is free', () => runFiles().length === 1, { limitMs })
      assert.equal(started().length, 2)
      assert.deepEqual([ours.ends, theirs.ends], [0, 0])
    })

    it('goes on with a process of its own if that does not start', async () => {
      const [old = 0] = started()
      const failure = new Error('it did not start')
      await assert.rejects(
        ours.handOverTo(async () => await Promise.reject(failure)),
        failure,
      )
      const again = await until('another process of it runs', () => started()[1], { limitMs })
      await until('the old process was let go', () => journal().includes(`let-go ${old}`), { limitMs })
      assert.ok(isRunning(again))
    })

    it('can not leave if it has just ended: nothing else is started, and it is replaced as any part', async () => {
      const [old = 0] = started()
      process.kill(old, 'SIGSTOP')
      const leaving = ours.handOverTo(async () => await startNext(theirs))
      process.kill(old, 'SIGKILL')
      await assert.rejects(leaving, { name: 'CannotLeave', message: /ended before it left/ })
      const stop = { deadlineMs: Date.now() + limitMs, end: PlatformEnd.KeepVms }
      await ours.stop(stop)
      await startNext(theirs)
      assert.deepEqual(started().filter(isRunning), [started().at(-1)])
    })

    it('is cut off by the end of the platform', async () => {
      const begun = Promise.withResolvers<void>()
      isReady = () => false
      const leaving = ours.handOverTo(async () => {
        begun.resolve()
        await theirs.start()
      })
      await begun.promise
      await Promise.all([assert.rejects(leaving), supervisor.stop()])
      assert.deepEqual(started().filter(isRunning), [])
    })

    it('can take the work back', async () => {
      await ours.handOverTo(async () => await startNext(theirs))
      await theirs.handOverTo(async () => await startNext(ours))
      assert.equal(started().length, 3)
      assert.ok(isRunning(started()[2]!))
    })

    it('ends with the platform, whoever has the work', async () => {
      await ours.handOverTo(async () => await startNext(theirs))
      await supervisor.stop()
      assert.deepEqual(started().filter(isRunning), [])
      assert.deepEqual(runFiles(), [])
    })
  })

  it('ends early if three processes that are younger are leaving too', async () => {
    const old = await start(true)
    let last = old
    for (let time = 0; time < 3; time++) last = await leave(last)
    assert.ok(isRunning(old))
    await leave(last)
    await until('the oldest has ended', () => !isRunning(old), { limitMs })
    assert.equal(started().filter(isRunning).length, 4)
  })
})
