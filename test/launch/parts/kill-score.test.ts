import assert from 'node:assert/strict'
import { keepFromKiller } from '../../../src/launch/parts/kill-score.ts'
import { runPart } from './run-part.ts'

describe('a part that gives way', () => {
  it('has processors only where nobody else wants them, within its session and beside other sessions', async () => {
    const show = 'sleep 0.2; cut -d " " -f 19 /proc/self/stat; cat /proc/self/autogroup 2>/dev/null || true'
    const part = { program: 'sh', args: ['-c', show] }
    const [nice, session] = await runPart({ ...part, givesWay: true })
    assert.equal(nice, '10')
    if (session !== undefined) assert.match(session, / nice 10$/)
    assert.equal((await runPart(part))[0], '0')
  })
})

describe('the part that memory runs out for', () => {
  it('is not one of the platform: each gets a score below others, as soon as it is there', async () => {
    const kept: number[] = []
    const part = { program: 'sh', args: ['-c', 'echo $$'] }
    const lines = await runPart(part, { keepFromKiller: (pid) => kept.push(pid) })
    assert.deepEqual(lines.map(Number), kept)
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
