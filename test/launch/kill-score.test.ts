import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keepFromKiller } from '../../src/launch/kill-score.ts'
import { startPartProcess } from '../../src/launch/part-process.ts'

const ready = async () => await Promise.resolve()

describe('a part that gives way', () => {
  it('has processors only where nobody else wants them, within its session and beside other sessions', async () => {
    const runDirectory = await mkdtemp(path.join(tmpdir(), 'roost-nice-'))
    const lines: string[] = []
    const options = { runDirectory, onLine: (line: string) => lines.push(line), environment: process.env }
    const show = 'sleep 0.2; cut -d " " -f 19 /proc/self/stat; cat /proc/self/autogroup 2>/dev/null || true'
    const part = {
      name: 'one',
      program: 'sh',
      args: ['-c', show],
      stopSignal: 'SIGTERM',
      stopLimitMs: 1_000,
    } as const
    try {
      await (
        await startPartProcess({ ...part, ready, givesWay: true }, options)
      ).exited
      const [nice, session] = lines.splice(0)
      assert.equal(nice, '10')
      if (session !== undefined) assert.match(session, / nice 10$/)
      await (
        await startPartProcess({ ...part, ready }, options)
      ).exited
      assert.equal(lines[0], '0')
    } finally {
      await rm(runDirectory, { recursive: true })
    }
  })
})

describe('the part that memory runs out for', () => {
  it('is not one of the platform: each gets a score below others, as soon as it is there', async () => {
    const runDirectory = await mkdtemp(path.join(tmpdir(), 'roost-score-'))
    const kept: number[] = []
    const part = {
      name: 'one',
      program: 'sh',
      args: ['-c', 'echo $$'],
      stopSignal: 'SIGTERM',
      stopLimitMs: 1_000,
    } as const
    const lines: string[] = []
    try {
      const options = { runDirectory, onLine: (line: string) => lines.push(line), environment: process.env }
      const running = await startPartProcess(
        { ...part, ready },
        { ...options, keepFromKiller: (pid) => kept.push(pid) },
      )
      await running.exited
      assert.deepEqual(lines.map(Number), kept)
    } finally {
      await rm(runDirectory, { recursive: true })
    }
  })

  it('is written where the kernel reads it, and done without where that is not permitted', () => {
    const written: string[][] = []
    assert.equal(
      keepFromKiller(42, (...args) => written.push(args)),
      true,
    )
    assert.deepEqual(written, [['/proc/42/oom_score_adj', '-500']])
    const refused = () => {
      throw new Error('EACCES')
    }
    assert.equal(keepFromKiller(42, refused), false)
  })
})
