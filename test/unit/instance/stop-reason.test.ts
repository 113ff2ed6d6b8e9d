import { strict as assert } from 'node:assert'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import type { ExitReport } from '../../../src/domain/instance/exit-report.ts'
import { stopOutcome, StopOrigin } from '../../../src/domain/instance/stop-reason.ts'
import type { AskedStop, StopOutcome } from '../../../src/domain/instance/stop-reason.ts'

const byUser: AskedStop = { origin: StopOrigin.User, forced: false }
const byForce: AskedStop = { origin: StopOrigin.User, forced: true }
const inApplication = 127 << 8
/**
 * The `stop_code` of a clean shutdown has only the shutdown bit: its reason is OK (0), and its phase is 0.
 */
const clean = 1 << 15

function end(fields: Partial<ExitReport>): ExitReport {
  return { boot: 1, cause: ExitCause.Guest, applicationStarted: true, atMs: 0, ...fields }
}

interface Case {
  readonly title: string
  readonly exit?: Partial<ExitReport>
  readonly asked?: AskedStop
  readonly outcome: StopOutcome
}

const crashed = (reason: number, errno = 0): StopOutcome => ({
  stopReason: 1,
  stopCode: (errno << 16) | inApplication | reason,
})

const cases: readonly Case[] = [
  {
    title: 'an exit with 0',
    exit: { exitCode: 0 },
    outcome: { stopReason: 3, exitCode: 0, stopCode: clean },
  },
  {
    title: 'an exit with 7',
    exit: { exitCode: 7 },
    outcome: { stopReason: 3, exitCode: 7, stopCode: clean },
  },
  { title: 'SIGSEGV', exit: { signal: 11 }, outcome: crashed(5) },
  { title: 'SIGBUS', exit: { signal: 7 }, outcome: crashed(4) },
  { title: 'SIGFPE', exit: { signal: 8 }, outcome: crashed(2) },
  { title: 'SIGILL', exit: { signal: 4 }, outcome: crashed(3) },
  { title: 'SIGSYS', exit: { signal: 31 }, outcome: crashed(7) },
  { title: 'SIGABRT', exit: { signal: 6 }, outcome: crashed(1) },
  { title: 'out of memory', exit: { signal: 9, outOfMemory: true }, outcome: crashed(4, 12) },
  { title: 'a kernel panic', exit: { cause: ExitCause.KernelPanic }, outcome: crashed(1) },
  {
    title: 'a kernel panic before the application',
    exit: { cause: ExitCause.KernelPanic, applicationStarted: false },
    outcome: { stopReason: 1, stopCode: 1 },
  },
  {
    title: 'a guest that shut down without a report',
    exit: { cause: ExitCause.GuestShutdown },
    outcome: { stopReason: 1, stopCode: clean },
  },
  { title: 'a lost VMM', exit: { cause: ExitCause.VmmLost }, outcome: { stopReason: 0 } },
  {
    title: 'a stop by the user, exit with 0',
    asked: byUser,
    exit: { exitCode: 0 },
    outcome: { stopReason: 15, exitCode: 0, stopCode: clean },
  },
  {
    title: 'a stop by the user, died of SIGTERM',
    asked: byUser,
    exit: { signal: 15 },
    outcome: { stopReason: 15, exitCode: 143, stopCode: clean },
  },
  {
    title: 'a stop by the user, had to be killed',
    asked: byUser,
    exit: { killedAtShutdown: true, signal: 9 },
    outcome: { stopReason: 13, stopCode: clean },
  },
  {
    title: 'a stop by the user of a guest that shut down without a report',
    asked: byUser,
    exit: { cause: ExitCause.GuestShutdown },
    outcome: { stopReason: 13, stopCode: clean },
  },
  {
    title: 'a stop by the user whose VMM was lost',
    asked: byUser,
    exit: { cause: ExitCause.VmmLost },
    outcome: { stopReason: 12 },
  },
  {
    title: 'a stop by force',
    asked: byForce,
    exit: { cause: ExitCause.Forced },
    outcome: { stopReason: 28 },
  },
  {
    title: 'a stop by force that the guest forestalled',
    asked: byForce,
    exit: { exitCode: 0 },
    outcome: { stopReason: 28 },
  },
  {
    title: 'a host that was halted',
    exit: { cause: ExitCause.HostHalted, exitCode: 0 },
    outcome: { stopReason: 7, exitCode: 0, stopCode: clean },
  },
  { title: 'a host that lost its power', exit: { cause: ExitCause.HostHalted }, outcome: { stopReason: 4 } },
  { title: 'a stop of a boot that the host never knew', asked: byUser, outcome: { stopReason: 12 } },
]

describe('the numbers of an end', () => {
  for (const { title, exit, asked, outcome } of cases) {
    it(`${title}: stop_reason ${outcome.stopReason}`, () => {
      assert.deepEqual(stopOutcome(exit && end(exit), asked), outcome)
    })
  }

  it('a stop_code whose reason is OK has the shutdown bit and nothing else, so that none is 0', () => {
    const codes = cases.flatMap(({ exit, asked }) => stopOutcome(exit && end(exit), asked).stopCode ?? [])
    assert.ok(codes.length > 0)
    for (const code of codes) assert.ok((code & 0xff) !== 0 || code === clean, String(code))
  })

  it('exit_code comes with the application bit and stop_code with the kernel bit, and only then', () => {
    for (const { exit, asked } of cases) {
      const { stopReason, exitCode, stopCode } = stopOutcome(exit && end(exit), asked)
      assert.equal(exitCode !== undefined, (stopReason & 2) !== 0)
      assert.equal(stopCode !== undefined, (stopReason & 1) !== 0)
    }
  })
})
