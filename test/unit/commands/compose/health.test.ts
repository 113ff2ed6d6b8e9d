import assert from 'node:assert/strict'
import type { CommandDeps } from '../../../../src/commands/command-deps.ts'
import { untilHealthy } from '../../../../src/commands/compose/health.ts'
import type { HealthCheck } from '../../../../src/commands/compose/project.ts'

describe('the wait for a healthy instance', () => {
  const health: HealthCheck = {
    argv: ['check'],
    intervalMs: 1,
    timeoutMs: 1_000,
    retries: 3,
    startPeriodMs: 0,
    startIntervalMs: 1,
  }
  /** Waits with a check that succeeds at the given time, and returns how often it was run. */
  const checks = async (
    healthyAt: number,
    more: Partial<HealthCheck> = {},
    { signal = new AbortController().signal, deadlineMs = Number.POSITIVE_INFINITY } = {},
  ): Promise<number> => {
    let count = 0
    const check = async () => ({ isHealthy: ++count >= healthyAt, output: 'no connection' })
    const deps = { signal } as CommandDeps
    await untilHealthy({ deps }, { name: 'db.shop', health: { ...health, ...more }, check, deadlineMs })
    return count
  }

  it('ends with the first check that succeeds', async () => {
    assert.equal(await checks(1), 1)
    assert.equal(await checks(3), 3)
  })

  it('fails after as many failed checks as the file says, with what the check says', async () => {
    await assert.rejects(
      checks(4),
      /^CommandFailure: db\.shop is not healthy after 3 checks; its check says: no connection$/,
    )
  })

  it('does not count what fails while the application may still start', async () => {
    assert.equal(await checks(20, { startPeriodMs: 60_000 }), 20)
  })

  it('fails when its time is over', async () => {
    const late = checks(Number.POSITIVE_INFINITY, { retries: 1_000 }, { deadlineMs: Date.now() + 20 })
    await assert.rejects(late, /not healthy yet, and --timeout is over/)
  })

  it('ends with Ctrl-C', async () => {
    const ended = new AbortController()
    const waiting = checks(2, { intervalMs: 60_000 }, { signal: ended.signal })
    setImmediate(() => ended.abort())
    await assert.rejects(waiting, { name: 'AbortError' })
  })
})
