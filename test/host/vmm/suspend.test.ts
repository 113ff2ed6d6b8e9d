import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { cp, readFile, readdir, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { snapshotDirectory, takeSnapshot } from '../../../src/host/vmm/snapshot-files.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { GuestShell, makeTap, removeTap, shellApplication, tapAttachment } from './guest-shell.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

describe('a QEMU guest that sleeps', () => {
  let bench: QemuBench
  let vmm: QemuVmm
  const problems: string[] = []

  before(async () => {
    bench = await openQemuBench()
    vmm = openVmm()
  })
  after(async () => {
    await vmm.close()
    await bench.close()
  })

  function openVmm(): QemuVmm {
    const { instancesDirectory, context } = bench
    const onProblem = (message: string) => problems.push(message)
    return new QemuVmm({ instancesDirectory, ...context, onProblem })
  }

  afterEach(async () => {
    for (const left of await vmm.recover()) {
      await vmm.kill(left, 'forced')
      await vmm.forget(left)
    }
  })

  async function sleepAndWake(spec: VmSpec): Promise<VmSpec> {
    await vmm.suspend(spec)
    return await wake(spec)
  }

  async function wake(spec: VmSpec): Promise<VmSpec> {
    const next = { ...spec, boot: spec.boot + 1, restore: true }
    assert.equal((await vmm.start(next)).kind, StartKind.Restore, problems.join('; '))
    return next
  }

  async function end(spec: VmSpec): Promise<void> {
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
  }

  describe('and is connected', () => {
    let shell: GuestShell
    let shells: GuestShell[] = []

    before(function () {
      if (!bench.context.facts.isRoot) this.skip()
      makeTap()
    })
    // If the connections stayed open, the host's kernel would send packets to a guest that is gone, for
    // minutes.
    afterEach(() => {
      for (const each of shells) each.close()
      shells = []
    })
    after(removeTap)

    async function openShell(): Promise<GuestShell> {
      const opened = await GuestShell.open()
      shells.push(opened)
      return opened
    }

    async function connected(): Promise<VmSpec> {
      const spec = { ...(await bench.spec({ argv: shellApplication })), attachment: tapAttachment }
      await vmm.start(spec)
      shell = await openShell()
      return spec
    }

    it('keeps connections, memory and processes over many sleeps, and what is sent meanwhile arrives', async () => {
      let spec = await connected()
      await shell.run('count=40; echo kept > /file')
      for (let round = 1; round <= 3; round += 1) {
        await vmm.suspend(spec)
        // The guest sleeps, so nobody receives this; the host's kernel sends it again.
        const answer = shell.run('count=$((count+1)); echo $count $(cat /file)')
        spec = await wake(spec)
        assert.equal(await answer, `${40 + round} kept\n`)
      }
      await end(spec)
    })

    it('has the right time after any sleep', async () => {
      const spec = await connected()
      await vmm.suspend(spec)
      await delay(2_500)
      const next = await wake(spec)
      const before = Date.now()
      const [seconds, microseconds] = (await shell.run('adjtimex')).match(/(?<=tv_u?sec:\s*)\d+/g) ?? []
      const guestMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000
      const [earlyMs, lateMs] = [before - guestMs, guestMs - Date.now()]
      assert.ok(earlyMs < 1_000 && lateMs < 100, `early by ${earlyMs}, late by ${lateMs} ms`)
      await end(next)
    })

    it('has random bytes of its own if two VMs continue from copies of one snapshot', async () => {
      const spec = await connected()
      await shell.run('cat /proc/sys/kernel/random/uuid')
      await vmm.suspend(spec)
      const copy = path.join(bench.directory, 'copy')
      await cp(snapshotDirectory(spec.directory), copy, { recursive: true })
      const seen: string[] = []
      let last = spec
      for (let round = 0; round < 2; round += 1) {
        last = await wake(last)
        const own = await openShell()
        seen.push(await own.run('head -c 16 /dev/urandom | od -An -tx1'))
        own.close()
        await end(last)
        await cp(copy, snapshotDirectory(spec.directory), { recursive: true })
      }
      assert.equal(seen.length, 2)
      assert.notEqual(seen[0], seen[1])
      await vmm.dropSnapshot(spec.directory)
    })
  })

  it('continues its output where it was, loses nothing of it, and ends with its own code', async () => {
    const script = 'for i in $(seq 1 30000); do echo "line $i of what it prints"; done; exit 5'
    let spec = await bench.spec({ argv: ['sh', '-c', script] })
    await vmm.start(spec)
    for (let round = 0; round < 3; round += 1) {
      await delay(100)
      spec = await sleepAndWake(spec)
    }
    assert.partialDeepStrictEqual(await exitOf(vmm, spec), {
      boot: 4,
      cause: ExitCause.Guest,
      exitCode: 5,
      applicationStarted: true,
    })
    const expected = Array.from({ length: 30_000 }, (_, index) => `line ${index + 1} of what it prints\n`)
    assert.equal(await bench.consoleOf(spec), expected.join(''))
    await vmm.forget(spec)
  })

  it('can be asked, sleep and continue while it floods its console', async () => {
    let spec = await bench.spec({ argv: ['yes', '0123456789abcdef'] })
    await vmm.start(spec)
    await delay(1_000)
    await until('standby suits it', async () => (await vmm.askToSleep(spec)) === 'ready', { limitMs: 30_000 })
    for (let round = 0; round < 3; round += 1) {
      spec = await sleepAndWake(spec)
      await delay(500)
    }
    await end(spec)
    const lines = new Set((await bench.consoleOf(spec)).split('\n').slice(1, -1))
    assert.deepEqual([...lines], ['0123456789abcdef'])
  })

  it('can be one that started from a template, and sleeps again', async () => {
    const templates = bench.templates()
    const quick = new QemuVmm({ instancesDirectory: bench.instancesDirectory, ...bench.context, templates })
    const first = await bench.spec({ argv: ['true'] })
    await quick.start(first)
    await exitOf(quick, first)
    await quick.forget(first)
    await templates.settled()
    const spec = await bench.spec({ argv: ['sh', '-c', 'sleep 3; echo awake; exit 6'] })
    assert.equal((await quick.start(spec)).kind, StartKind.Template)
    for (const boot of [1, 2]) {
      assert.equal(await quick.askToSleep({ ...spec, boot }), 'ready')
      await quick.suspend({ ...spec, boot })
      assert.equal((await quick.start({ ...spec, boot: boot + 1, restore: true })).kind, StartKind.Restore)
    }
    assert.equal((await exitOf(quick, { ...spec, boot: 3 })).exitCode, 6)
    await quick.forget({ ...spec, boot: 3 })
    // The snapshot is used up, so it starts from the template again.
    assert.equal((await quick.start({ ...spec, boot: 4, restore: true })).kind, StartKind.Template)
    await quick.kill({ ...spec, boot: 4 }, 'forced')
    await quick.forget({ ...spec, boot: 4 })
    await quick.close()
  })

  it('boots afresh if its snapshot is of another machine, or is broken', async () => {
    let spec = await bench.spec({ argv: ['sleep', '1000000'] })
    await vmm.start(spec)
    await vmm.suspend(spec)
    const recordPath = path.join(snapshotDirectory(spec.directory), 'snapshot.json')
    const record = JSON.parse(await readFile(recordPath, 'utf8')) as object
    await writeFile(recordPath, JSON.stringify({ ...record, snapshotKey: 'another' }))
    spec = { ...spec, boot: 2, restore: true }
    assert.equal((await vmm.start(spec)).kind, StartKind.Boot)
    await vmm.suspend(spec)
    await truncate(path.join(snapshotDirectory(spec.directory), 'memory'), 20_000_000)
    spec = { ...spec, boot: 3 }
    problems.length = 0
    assert.equal((await vmm.start(spec)).kind, StartKind.Boot)
    assert.match(problems.join(), /^a snapshot could not be continued/)
    await end(spec)
  })

  it('keeps its memory if its agent dies between taking the snapshot and starting the VM', async () => {
    const spec = await bench.spec({ argv: ['sleep', '1000000'] })
    await vmm.start(spec)
    await vmm.suspend(spec)
    await takeSnapshot(spec.directory, bench.context.facts.bootId)
    const next = openVmm()
    assert.deepEqual(await next.recover(), [])
    const woken = { ...spec, boot: 2, restore: true }
    assert.equal((await next.start(woken)).kind, StartKind.Restore)
    await next.close()
    // From here on the snapshot counts as used, even if its files are still there.
    await vmm.recover()
    await end(woken)
    const last = openVmm()
    await last.recover()
    await last.close()
    assert.deepEqual((await readdir(spec.directory)).toSorted(), ['console'])
  })

  it('runs on, and its disk too, if its snapshot can not be put in its place', async () => {
    const script = 'sleep 3; echo 3 > /proc/sys/vm/drop_caches; cat /bin/busybox > /dev/null && exit 4'
    const spec = await bench.spec({ argv: ['sh', '-c', script] })
    await vmm.start(spec)
    const parent = path.dirname(snapshotDirectory(spec.directory))
    // The suspension first deletes what is in the way, and then makes this directory.
    const suspending = vmm.suspend(spec)
    let isOver = false
    suspending.catch(() => undefined).finally(() => (isOver = true))
    while (!existsSync(path.join(parent, 'snapshot.new')) && !isOver) await turn()
    // A rename does not replace a directory that holds a file.
    mkdirSync(path.join(parent, 'snapshot', 'in-the-way'), { recursive: true })
    await assert.rejects(suspending, { name: 'VmmError', message: /could not be suspended: .*not empty/ })
    rmSync(path.join(parent, 'snapshot'), { recursive: true })
    assert.equal((await exitOf(vmm, spec)).exitCode, 4)
    assert.deepEqual((await readdir(parent)).toSorted(), ['console', 'vm'])
    await vmm.forget(spec)
  })

  for (const whenMs of [0, 5, 20, 40]) {
    it(`is a VM or a snapshot and never both, where its agent dies ${whenMs} ms into the suspension`, async () => {
      const spec = await bench.spec({ argv: ['sleep', '1000000'] })
      const dying = openVmm()
      await dying.start(spec)
      const suspending = dying.suspend(spec)
      suspending.catch(() => undefined)
      await delay(whenMs)
      await dying.close()
      const next = openVmm()
      const found = (await next.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
      // The suspension may have passed its point of no return, with the VM still ending. To suspend again
      // works in any case.
      const { snapshotUuid } = await next.suspend(spec)
      assert.match(snapshotUuid, /^[0-9a-f-]{36}$/)
      assert.equal(found?.exit, undefined)
      assert.equal((await next.start({ ...spec, boot: 2, restore: true })).kind, StartKind.Restore)
      await next.kill({ ...spec, boot: 2 }, 'forced')
      await next.forget({ ...spec, boot: 2 })
      await next.close()
    })
  }

  for (const whenMs of [5, 40, 60]) {
    it(`is a lost VM or a snapshot and never both, where its keeper dies ${whenMs} ms into the suspension`, async () => {
      const spec = await bench.spec({ argv: ['sleep', '1000000'] })
      await vmm.start(spec)
      const keeper = await bench.pidOf(spec, 'keeper')
      const suspending = vmm.suspend(spec).then(
        () => true,
        () => false,
      )
      await delay(whenMs)
      try {
        process.kill(keeper, 'SIGKILL')
      } catch {
        // The keeper had ended with the VM.
      }
      const suspended = await suspending
      const status = await vmm.status(spec)
      assert.equal(status?.exit?.cause, suspended ? undefined : ExitCause.VmmLost)
      await vmm.forget(spec)
      const next = { ...spec, boot: 2, restore: true }
      assert.equal((await vmm.start(next)).kind, suspended ? StartKind.Restore : StartKind.Boot)
      await end(next)
    })
  }

  for (const [what, boot, isLost] of [
    ['is its snapshot where that is complete', 1, false],
    ['is lost where the snapshot there is of another boot', 7, true],
  ] as const) {
    it(`${what}, though its keeper dies before it can say so`, async () => {
      const spec = await bench.spec({ argv: ['sleep', '1000000'] })
      await vmm.start(spec)
      const directory = path.join(spec.directory, 'snapshot')
      mkdirSync(directory)
      writeFileSync(
        path.join(directory, 'snapshot.json'),
        JSON.stringify({ schemaVersion: 1, uuid: 'of-it', boot }),
      )
      process.kill(await bench.pidOf(spec, 'keeper'), 'SIGKILL')
      const isOver = async () => {
        const status = await vmm.status(spec)
        return status === undefined || status.exit !== undefined
      }
      await until('it is over', isOver, { limitMs: 30_000 })
      assert.equal((await vmm.status(spec))?.exit?.cause, isLost ? ExitCause.VmmLost : undefined)
      await vmm.forget(spec)
      await vmm.dropSnapshot(spec.directory)
    })
  }
})
