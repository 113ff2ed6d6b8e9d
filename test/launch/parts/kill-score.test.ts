import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { keepFromKiller } from '../../../src/launch/parts/kill-score.ts'
import { runPart } from './run-part.ts'

describe('a part that gives way', () => {
  it('gets processors only if no other process wants them, in its own session and in others', async () => {
    const show = 'sleep 0.2; cut -d " " -f 19 /proc/self/stat; cat /proc/self/autogroup 2>/dev/null || true'
    const part = { program: 'sh', args: ['-c', show] }
    const [nice, session] = await runPart({ ...part, givesWay: true })
    // A part inherits the priority of whatever starts it, such as of a test run under `nice`.
    const inherited = getPriority()
    assert.equal(Number(nice), Math.min(inherited + 10, 19))
    if (session !== undefined) assert.match(session, / nice 10$/)
    assert.equal(Number((await runPart(part))[0]), inherited)
  })
})

describe('the score by which the kernel kills when memory runs out', () => {
  it('is lower for each part of the platform than for other processes, as soon as the part is started', async () => {
    const kept: number[] = []
    const part = { program: 'sh', args: ['-c', 'echo $$'] }
    const lines = await runPart(part, { keepFromKiller: (pid) => kept.push(pid) })
    assert.deepEqual(lines.map(Number), kept)
  })

  it('is written where the kernel reads it, and a refusal of the kernel does no harm', () => {
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
