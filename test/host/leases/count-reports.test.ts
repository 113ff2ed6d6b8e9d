import assert from 'node:assert/strict'
import { CountReports } from '../../../src/host/leases/count-reports.ts'

describe('asking gateways for their counts', () => {
  let nowMs: number
  let reports: CountReports
  beforeEach(() => {
    nowMs = 1_000
    reports = new CountReports(() => nowMs)
  })

  class Line {
    readonly asked: number[] = []
    send({ number }: { readonly number: number }): void {
      this.asked.push(number)
    }
  }
  /** Whether the promise has resolved by now. */
  async function isOver(asked: Promise<void>): Promise<boolean> {
    return (
      (await Promise.race([
        asked.then(() => true),
        new Promise((resolve) => setImmediate(resolve, false)),
      ])) === true
    )
  }

  it('is over when all have answered, or are lost', async () => {
    const lines = [new Line(), new Line()] as const
    const asked = reports.ask(lines)
    assert.deepEqual(
      lines.map((line) => line.asked),
      [[1], [1]],
    )
    reports.answered(lines[0], 1)
    assert.equal(await isOver(asked), false)
    reports.lost(lines[1])
    await asked
  })

  it('is over at once where there is no gateway', async () => {
    await reports.ask([])
  })

  it('is one round for all readers within 50 ms', async () => {
    const line = new Line()
    const first = reports.ask([line])
    nowMs += 50
    const second = reports.ask([line])
    assert.deepEqual(line.asked, [1])
    reports.answered(line, 1)
    await Promise.all([first, second])
    nowMs += 1
    const third = reports.ask([line])
    assert.deepEqual(line.asked, [1, 2])
    reports.answered(line, 1)
    assert.equal(await isOver(third), false)
    reports.answered(line, 2)
    await third
  })

  it('does not wait for a gateway that never answers', async () => {
    await reports.ask([new Line()])
  })
})
