import assert from 'node:assert/strict'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { cpuTimeMsOf, exitReportOf, parseVmEvents, startReportOf } from '../../../src/host/vmm/vm-events.ts'
import type { VmRecord } from '../../../src/host/vmm/vm-record.ts'

const record: VmRecord = {
  schemaVersion: 1,
  instanceUuid: 'a',
  boot: 3,
  guest: 'container',
  kind: 'boot',
  askedAtUs: 1_000_000,
  hostBootId: 'host',
}

/** The events `lines`, one millisecond apart. */
function story(...lines: readonly string[]) {
  return parseVmEvents(lines.map((line, index) => `${1_001_000 + index * 1_000} ${line}\n`).join(''))
}

const up = ['keeper 1 1', 'qemu 2 2', 'monitor', 'running']
const running = [...up, 'ready', 'app 79']
const ended = 'ended exit 0 cpu_us 1234567'
const killed = 'ended signal 9 cpu_us 1'

describe('the verdict on a VM that ended', () => {
  const verdicts: readonly (readonly [string, Partial<VmRecord>, readonly string[], object])[] = [
    [
      'a reported code',
      {},
      [...running, 'exit code 3 oom 0 killed 0', 'shutdown guest-shutdown', ended],
      { cause: ExitCause.Guest, exitCode: 3 },
    ],
    [
      'a reported signal',
      {},
      [...running, 'exit signal 11 oom 0 killed 0', 'shutdown guest-shutdown', ended],
      { cause: ExitCause.Guest, signal: 11 },
    ],
    [
      'out of memory',
      {},
      [...running, 'exit signal 9 oom 1 killed 0', ended],
      { cause: ExitCause.Guest, signal: 9, outOfMemory: true },
    ],
    [
      'killed at shutdown',
      {},
      [...running, 'shutdown-asked 5', 'exit signal 9 oom 0 killed 1', ended],
      { cause: ExitCause.Guest, signal: 9, killedAtShutdown: true },
    ],
    [
      'a report whose guest then hung',
      {},
      [...running, 'exit code 0 oom 0 killed 0', 'kill unresponsive', killed],
      { cause: ExitCause.Guest, exitCode: 0 },
    ],
    ['a panic', {}, [...running, 'shutdown guest-panic', ended], { cause: ExitCause.KernelPanic }],
    [
      'a reset before the panic driver is there',
      {},
      [...up, 'shutdown guest-reset', ended],
      { cause: ExitCause.KernelPanic, applicationStarted: false },
    ],
    [
      'a reset that the application wanted',
      {},
      [...running, 'shutdown guest-reset', ended],
      { cause: ExitCause.GuestShutdown },
    ],
    [
      'a reset of a kernel of the user’s own',
      { guest: 'kernel' },
      [...up, 'shutdown guest-reset', ended],
      { cause: ExitCause.GuestShutdown, applicationStarted: true },
    ],
    [
      'power off without a report',
      {},
      [...running, 'shutdown guest-shutdown', ended],
      { cause: ExitCause.GuestShutdown },
    ],
    ['a forced stop', {}, [...running, 'kill forced', killed], { cause: ExitCause.Forced }],
    ['a platform that halts', {}, [...running, 'kill host-halted', killed], { cause: ExitCause.HostHalted }],
    [
      'a host that was cut off',
      {},
      [...running, 'kill host-cut-off', killed],
      { cause: ExitCause.HostHalted },
    ],
    ['a host that rebooted', {}, [...running, 'ended host-halted cpu_us 0'], { cause: ExitCause.HostHalted }],
    [
      'a guest that did not heed the shutdown',
      {},
      [...running, 'shutdown-asked 5', 'kill unresponsive', killed],
      { cause: ExitCause.Forced },
    ],
    ['a VMM somebody killed', {}, [...running, killed], { cause: ExitCause.VmmLost }],
    [
      'an accelerator that gave up',
      {},
      [...running, 'shutdown internal-error', killed],
      { cause: ExitCause.VmmLost },
    ],
    ['a keeper that vanished', {}, [...running, 'ended lost cpu_us 0'], { cause: ExitCause.VmmLost }],
  ]
  for (const [what, over, lines, expected] of verdicts) {
    it(`tells of ${what}`, () => {
      const exit = exitReportOf({ ...record, ...over }, story(...lines))
      assert.partialDeepStrictEqual(exit, { boot: 3, ...expected })
      if (!('exitCode' in expected)) assert.equal(exit?.exitCode, undefined)
    })
  }

  it('is not there while the VM runs, nor after a line that is only half written', () => {
    assert.equal(exitReportOf(record, story(...running)), undefined)
    assert.equal(exitReportOf(record, parseVmEvents(`1 qemu 2 2\n2 ${ended}`)), undefined)
  })

  it('is not there for a VM that became a snapshot, and a restored VM has its application with it', () => {
    assert.equal(exitReportOf(record, story(...running, 'suspended', killed)), undefined)
    const restored = { ...record, kind: 'restore' } as const
    assert.equal(startReportOf(restored, story(...up))?.bootTimeUs, 4_000)
    assert.equal(exitReportOf(restored, story(...up, killed))?.applicationStarted, true)
  })

  it('measures a start from the moment at which it was asked for', () => {
    const report = startReportOf(record, story(...running, 'listen'))
    assert.deepEqual(report, {
      boot: 3,
      kind: 'boot',
      startedAtMs: 1_000,
      vmmStartTimeUs: 2_000,
      vmmLoadTimeUs: 3_000,
      vmmReadyTimeUs: 4_000,
      bootTimeUs: 6_000,
      netTimeUs: 7_000,
    })
    assert.equal(startReportOf(record, story(...up, 'ready')), undefined)
    assert.equal(startReportOf({ ...record, guest: 'kernel' }, story(...up))?.bootTimeUs, 4_000)
  })

  it('has the CPU time that the host’s kernel counted up to the end', () => {
    assert.equal(cpuTimeMsOf(story(...running, ended)), 1_235)
    assert.equal(cpuTimeMsOf(story(...running)), undefined)
  })
})
