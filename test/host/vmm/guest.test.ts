import assert from 'node:assert/strict'
import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

/** Every character that a part on the way could misread, except NUL. */
const awkward = 'a "b" \'c\' $d `e` \\f\n\tg=h;&|<>(){}*?~#% é 漢 \u0001\u007f'

describe('an application in a QEMU guest', () => {
  let bench: QemuBench
  let vmm: QemuVmm

  before(async () => {
    bench = await openQemuBench()
    vmm = bench.open()
  })
  after(async () => {
    await vmm.close()
    await bench.close()
  })

  it('gets arguments and environment unchanged, with any bytes in them', async () => {
    const { console } = await bench.run(vmm, {
      argv: ['sh', '-c', 'printf "<%s>" "$@" "$AWKWARD"', 'sh', awkward, '', ' '],
      env: { AWKWARD: awkward },
    })
    assert.equal(console, `<${awkward}><>< ><${awkward}>`)
  })

  it('runs as the user, in the directory and on the host that were asked for', async () => {
    const { console } = await bench.run(vmm, {
      argv: [
        'sh',
        '-c',
        'id -u; id -g; id -G; pwd; hostname; echo $HOME; grep -c box1 /etc/hosts; cat /etc/resolv.conf',
      ],
      user: 'app',
      workingDirectory: '/srv/made/here',
      hostname: 'box1',
    })
    const expected = [
      '1000',
      '1000',
      '1000 2000',
      '/srv/made/here',
      'box1',
      '/home/app',
      '1',
      'nameserver 10.0.2.3',
    ]
    assert.deepEqual(console.trim().split('\n'), expected)
  })

  it('has a writable root, its address, the right time and a name for its output', async () => {
    const script =
      'echo x > /made && cat /made; ip addr show eth0 | grep -o "inet [0-9.]*"; date +%s; echo out > /dev/stdout'
    const { console } = await bench.run(vmm, { argv: ['sh', '-c', script] })
    const [made, address, seconds, output] = console.trim().split('\n')
    assert.deepEqual([made, address, output], ['x', 'inet 10.0.2.15', 'out'])
    assert.ok(Math.abs(Number(seconds) - Date.now() / 1000) < 10, `the guest's clock says ${String(seconds)}`)
  })

  /**
   * On a busy host a VM does not run for a while, again and again. Its timer ticks come late then, but its
   * clock must not run slow.
   */
  it('keeps the right time over pauses in which its VM does not run', async () => {
    const clock = '/sys/devices/system/clocksource/clocksource0/current_clocksource'
    const spec = await bench.spec({
      argv: ['sh', '-c', `while :; do echo "$(cut -d' ' -f1 /proc/uptime) $(cat ${clock})"; sleep 0.1; done`],
    })
    const lines = async () => (await bench.consoleOf(spec)).split('\n').slice(0, -1)
    await vmm.start(spec)
    const qemu = await bench.pidOf(spec, 'qemu')
    // The guest boots meanwhile, and runs some of the time.
    for (let pause = 0; pause < 12; pause++) {
      await delay(100)
      process.kill(qemu, 'SIGSTOP')
      await delay(100)
      process.kill(qemu, 'SIGCONT')
    }
    await until('it runs for three seconds', async () => (await lines()).length > 25, { limitMs: 40_000 })
    assert.match((await lines()).at(-1) ?? '', / tsc$/)
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
  })

  it('that is missing ends with 127, one that is no program with 126, and the console says why', async () => {
    const [missing, unusable] = await Promise.all([
      bench.run(vmm, { argv: ['/no/such/program'] }),
      bench.run(vmm, { argv: ['/etc/passwd'] }),
    ])
    assert.partialDeepStrictEqual(missing.exit, {
      cause: ExitCause.Guest,
      exitCode: 127,
      applicationStarted: false,
    })
    assert.partialDeepStrictEqual(unusable.exit, {
      cause: ExitCause.Guest,
      exitCode: 126,
      applicationStarted: false,
    })
    assert.match(missing.console, /can not run '\/no\/such\/program': No such file/)
  })

  it('that needs more memory than there is ends by signal 9, marked as out of memory', async () => {
    const { exit, console } = await bench.run(vmm, {
      argv: ['sh', '-c', 'x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done'],
      memoryMb: 96,
    })
    assert.partialDeepStrictEqual(exit, { cause: ExitCause.Guest, signal: 9, outOfMemory: true }, console)
  })

  /**
   * After it has killed the application, a kernel may need a page before it has the application's pages
   * back. Without another process to kill it would panic.
   */
  it('is not the only process that its kernel may kill for memory, but is killed first', async () => {
    const last = `cd /proc
      last() { grep -lx -- -999 [0-9]*/oom_score_adj; }
      until [ "$(last | wc -l)" -ge 16 ]; do sleep 0.1; done
      for one in $(last); do cat "\${one%/*}/comm"; done`
    const { console } = await bench.run(vmm, { argv: ['sh', '-c', last] })
    assert.equal(console, 'roost-reserve\n'.repeat(16))
  })

  it('runs with the usual priority, and process 1 of its guest with a higher one', async () => {
    const both = 'cut -d " " -f 19 /proc/1/stat /proc/self/stat; sleep 1; cut -d " " -f 19 /proc/1/stat'
    const { console } = await bench.run(vmm, { argv: ['sh', '-c', both] })
    assert.match(console, /^(-20|0)\n0\n-20\n$/)
  })

  it('that asks for less memory than the kernel needs runs with the memory that the kernel needs', async () => {
    assert.equal((await bench.run(vmm, { argv: ['true'], memoryMb: 16 })).exit.exitCode, 0)
  })

  it('prints without end into a bounded console whose offsets stay true', async () => {
    const spec = await bench.spec({
      argv: [
        'sh',
        '-c',
        'i=0; while :; do echo "$((i+=1)) ------------------------------------"; done & yes 0123456789abcde',
      ],
    })
    await vmm.start(spec)
    const segments = await until(
      'the oldest part is dropped',
      async () => {
        const names = (await readdir(spec.consoleDirectory)).toSorted()
        return names[0] === '0000000000000000.log' ? undefined : names
      },
      { limitMs: 40_000 },
    )
    await vmm.kill(spec, 'forced')
    const names = (await readdir(spec.consoleDirectory)).toSorted()
    assert.ok(segments.length <= 4 && names.length <= 4, `${names.length} segments`)
    let expectedStart = Number(names[0]?.slice(0, 16))
    for (const name of names) {
      assert.equal(Number(name.slice(0, 16)), expectedStart)
      const { size } = await stat(path.join(spec.consoleDirectory, name))
      assert.ok(size <= 1 << 20)
      expectedStart += size
    }
    await vmm.forget(spec)
  })

  it('is in a process without privileges, of a user of its own', async function () {
    if (!bench.context.facts.isRoot) this.skip()
    const spec = await bench.spec({ argv: ['sleep', '1000000'] })
    await vmm.start(spec)
    const status = await readFile(`/proc/${await bench.pidOf(spec, 'qemu')}/status`, 'utf8')
    const field = (name: string) => status.match(new RegExp(`^${name}:[ \\t]*(.*)$`, 'm'))?.[1]
    assert.notEqual(field('Uid')?.split('\t')[0], '0')
    assert.deepEqual([field('CapEff'), field('CapBnd')], ['0000000000000000', '0000000000000000'])
    assert.deepEqual([field('NoNewPrivs'), field('Seccomp'), field('Groups')?.trim()], ['1', '2', ''])
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
  })

  it('does not outlive its keeper, whose death is a lost VMM', async () => {
    const spec = await bench.spec({ argv: ['sleep', '1000000'] })
    await vmm.start(spec)
    const [keeper, qemu] = [await bench.pidOf(spec, 'keeper'), await bench.pidOf(spec, 'qemu')]
    process.kill(keeper, 'SIGKILL')
    assert.equal((await exitOf(vmm, spec)).cause, ExitCause.VmmLost)
    await until('the VMM is gone', async () => !(await isRunning(qemu)), { limitMs: 30_000 })
    await vmm.forget(spec)
  })

  it('ended with its host if its record is from an earlier boot of the host', async () => {
    const spec = await bench.spec({ argv: ['sleep', '1000000'] })
    const before = bench.open()
    await before.start(spec)
    await before.close()
    const keeper = await bench.pidOf(spec, 'keeper')
    process.kill(keeper, 'SIGKILL')
    await until('the keeper is gone', async () => !(await isRunning(keeper)), { limitMs: 30_000 })
    const rebooted = { ...bench.context, facts: { ...bench.context.facts, bootId: 'the next boot' } }
    const after = new QemuVmm({ instancesDirectory: bench.instancesDirectory, ...rebooted })
    const found = (await after.recover()).find((status) => status.instanceUuid === spec.instanceUuid)
    assert.equal(found?.exit?.cause, ExitCause.HostHalted)
    await after.forget(spec)
    await after.close()
  })

  it('that is not reached within the boot limit is a failed boot with a hint, and no VM', async () => {
    const hasty = new QemuVmm({
      instancesDirectory: bench.instancesDirectory,
      ...bench.context,
      startLimitsMs: { boot: 200 },
    })
    const spec = await bench.spec({ argv: ['true'] })
    await assert.rejects(hasty.start(spec), {
      failure: 'BootFailed',
      message:
        /^no application within 0\.2 s \(its last step was "\w+", and it used \d+\.\d s of processor time\)/,
    })
    assert.equal(await hasty.status(spec), undefined)
    assert.deepEqual(await hasty.recover(), [])
    await hasty.close()
  })

  it('that can not be started gives an error that says why', async () => {
    const spec = await bench.spec({ argv: ['true'] })
    const broken = { ...spec, attachment: { ...spec.attachment, ip: '10.0.2.15', gateway: '192.168.9.9' } }
    await assert.rejects(vmm.start(broken), (error: Error) => {
      assert.match(error.message, /the VMM ended before the guest ran; it said: .*/)
      return true
    })
    assert.equal(await vmm.status(spec), undefined)
  })
})

async function isRunning(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return status !== undefined && !/\) Z /.test(status)
}
