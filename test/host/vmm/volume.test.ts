import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { chmod, chown, lchown, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { freeBytesAt } from '../../../src/host/free-bytes.ts'
import { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { VmmError, VmSpec, VmVolume } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'
import { SmallDisk } from './small-disk.ts'
import { checkVolume, isClean, makeVolume, mendVolume } from './volume-file.ts'

const appUid = 1000
/** The time limit of tests with many starts in a row, on two cores that other tests use too. */
const manyStartsMs = 180_000

const mebibyte = 1024 * 1024
/**
 * How often a keeper lets a VM try again after it found the disk full; guest/keeper/stall.c has the same
 * number.
 */
const stallRetryMs = 1_000
/** O_PATH of open(2): the descriptor only stands for the path, and the file is not open. */
const openPathFlag = 0o10000000

/** The flags of each descriptor that the process has of the file. */
async function openFlags(pid: number, file: string): Promise<readonly number[]> {
  const { dev, ino } = await stat(file)
  const flags: number[] = []
  for (const fd of await readdir(`/proc/${pid}/fd`)) {
    const found = await stat(`/proc/${pid}/fd/${fd}`).catch(() => undefined)
    if (found?.ino !== ino || found.dev !== dev) continue
    const info = await readFile(`/proc/${pid}/fdinfo/${fd}`, 'utf8')
    flags.push(parseInt(/^flags:\s+(\d+)$/m.exec(info)?.[1] ?? '', 8))
  }
  return flags
}

/**
 * Adds to an image what may stand at the mount path of a volume: directories, files, and links to many
 * places.
 */
async function addTraps(root: string): Promise<void> {
  await mkdir(path.join(root, 'srv/inner'), { recursive: true })
  await mkdir(path.join(root, 'theirs'))
  await chmod(path.join(root, 'theirs'), 0o750)
  await mkdir(path.join(root, 'full'))
  await writeFile(path.join(root, 'full/file'), '')
  const links = { inside: 'srv/inner', climbing: '../../../srv/inner', nowhere: '/no/such', round: 'round' }
  const reserved = {
    process: '/proc',
    devices: '/dev/shm',
    settings: '/sys/kernel',
    own: '/uk',
    magic: '/proc/self/root',
  }
  for (const [name, target] of Object.entries({ ...links, ...reserved }))
    await symlink(target, path.join(root, name))
  if (process.geteuid?.() !== 0) return
  await chown(path.join(root, 'theirs'), appUid, appUid)
  await lchown(path.join(root, 'inside'), appUid, appUid)
}

describe('a volume in a QEMU guest', () => {
  let bench: QemuBench
  let vmm: QemuVmm

  before(async () => {
    bench = await openQemuBench(addTraps)
    const { instancesDirectory, context } = bench
    vmm = new QemuVmm({ instancesDirectory, ...context, templates: bench.templates() })
  })
  after(async () => {
    await vmm.close()
    await bench.close()
  })
  afterEach(async () => {
    for (const left of await vmm.recover()) {
      await vmm.kill(left, 'forced')
      await vmm.forget(left)
    }
  })

  type Made = VmVolume & { readonly path: string }

  async function make(input: Parameters<typeof makeVolume>[1] = {}): Promise<Made> {
    return await makeVolume(bench.directory, input)
  }

  async function started(volume: VmVolume, script: string, user = ''): Promise<VmSpec> {
    const spec = await bench.spec({ argv: ['sh', '-c', script], volume, user })
    await vmm.start(spec)
    return spec
  }

  /** Runs a script that must end well, and returns what it prints. */
  async function run(volume: VmVolume, script: string, user = ''): Promise<string> {
    const { exit, console } = await bench.run(vmm, { argv: ['sh', '-c', script], volume, user })
    assert.equal(exit.exitCode, 0, console)
    return console.trim()
  }

  async function untilPrinted(spec: VmSpec, text: string): Promise<void> {
    await until(`it prints ${text}`, async () => (await bench.consoleOf(spec)).includes(text), {
      limitMs: 30_000,
    })
  }

  async function losePower(spec: VmSpec): Promise<void> {
    process.kill(await bench.pidOf(spec, 'qemu'), 'SIGKILL')
    assert.equal((await exitOf(vmm, spec)).cause, ExitCause.VmmLost)
    await vmm.forget(spec)
  }

  async function assertClean(volume: Made): Promise<void> {
    const { code, text } = await checkVolume(volume.path)
    assert.deepEqual([code, await isClean(volume.path)], [0, true], text)
  }

  it('keeps what was written and never synced, and is left clean while a process still writes', async () => {
    const volume = await make()
    await run(volume, 'echo kept > /data/file; (while :; do date >> /data/loop; done) & sleep 1')
    await assertClean(volume)
    assert.equal(await run({ ...volume, at: '/else/where' }, 'cat /else/where/file'), 'kept')
  })

  it('is left clean by an application that is told to stop, heeds it or not, and by one that can not start', async () => {
    const volume = await make()
    for (const heeds of ['', 'trap "" TERM; ']) {
      const spec = await started(volume, `${heeds}echo x >> /data/x; echo done; while :; do sleep 0.1; done`)
      await untilPrinted(spec, 'done')
      await vmm.shutdown(spec, { graceMs: 300 })
      assert.equal((await exitOf(vmm, spec)).cause, ExitCause.Guest)
      await vmm.forget(spec)
      await assertClean(volume)
    }
    await bench.run(vmm, { argv: ['/no/such/program'], volume })
    await assertClean(volume)
    assert.equal(await run(volume, 'wc -l < /data/x'), '2')
  })

  it('is left clean although mounted a second time, and with a file system of its own inside', async () => {
    const volume = await make()
    const script = [
      'mkdir /copy /inner; mount -o bind /data /copy; mount -t tmpfs none /data',
      'dd if=/dev/zero of=/copy/disk bs=1M count=4 2>/dev/null; mknod /l b 7 0; losetup /l /copy/disk; echo $?',
    ]
    await run(volume, script.join('; '))
    await assertClean(volume)
  })

  it('has what was synced after the VMM was killed', async () => {
    const volume = await make()
    const spec = await started(volume, 'echo synced > /data/file; sync; echo done; sleep 1000000')
    await untilPrinted(spec, 'done')
    await losePower(spec)
    assert.ok((await mendVolume(volume.path)).code <= 1)
    assert.equal(await run(volume, 'cat /data/file'), 'synced')
  })

  it('mounts again after each of many losses of power in the middle of writes', async function () {
    this.timeout(manyStartsMs)
    const volume = await make()
    const script = [
      'cat /data/marks 2>/dev/null; mkdir -p /data/t; echo writing',
      '(while :; do cp /bin/busybox /data/t/a; mv /data/t/a /data/t/b; done) &',
      'while :; do echo mark >> /data/marks; sync && echo synced; done',
    ].join('\n')
    let synced = 0
    for (let round = 0; round < 6; round += 1) {
      const spec = await started(volume, script)
      await untilPrinted(spec, 'synced')
      await delay(randomInt(300))
      await losePower(spec)
      const [before = '', now = ''] = (await bench.consoleOf(spec)).split('writing\n')
      const kept = before.match(/^mark$/gm)?.length ?? 0
      assert.ok(kept >= synced, `${synced} marks were synced, and ${kept} are there`)
      synced = kept + (now.match(/^synced$/gm)?.length ?? 0)
      const mended = await mendVolume(volume.path)
      assert.ok(mended.code <= 1, mended.text)
      assert.equal((await checkVolume(volume.path)).code, 0)
    }
  })

  it('that is read-only stays so whatever the guest tries, and its file does not change', async () => {
    const volume = await make()
    await run(volume, 'echo before > /data/file')
    const attempts = [
      'cat /data/file',
      'echo x > /data/file || echo refused',
      'mount -o remount,rw /data || echo refused',
      'd=$(grep -l "^volume$" /sys/block/*/serial | cut -d/ -f4); echo x > /dev/$d || echo refused',
      'blockdev --setrw /dev/$d; dd if=/dev/zero of=/dev/$d count=1 conv=fsync 2>/dev/null || echo refused',
    ]
    const printed = await run({ ...volume, readonly: true }, attempts.join('; '))
    assert.deepEqual(
      printed.split('\n').filter((line) => /^(before|refused)$/.test(line)),
      ['before', 'refused', 'refused', 'refused', 'refused'],
      printed,
    )
    await assertClean(volume)
  })

  it('that is full lets writes fail, and everything else goes on', async () => {
    const volume = await make()
    const script =
      'dd if=/dev/zero of=/data/big bs=1M; rm /data/big; echo small > /data/small; cat /data/small'
    const printed = await run(volume, script)
    assert.match(printed, /No space left on device/)
    assert.match(printed, /small$/)
    await assertClean(volume)
  })

  it('loses nothing where the host’s disk is full, and a shutdown waits for room', async () => {
    const disk = await SmallDisk.open(64)
    try {
      const volume = await makeVolume(disk.directory, { sizeMb: 96 })
      await disk.fillUp({ leavingMb: 8 })
      const stalled = new Promise<void>((resolve) => {
        vmm.onStalled((_, now) => now && resolve())
      })
      const script =
        'head -c 30000000 /dev/urandom > /tmp/x; cp /tmp/x /data/x; sync; md5sum < /tmp/x; sleep 1000000'
      const spec = await started(volume, `trap exit TERM; ${script} & wait`)
      await stalled
      await vmm.shutdown(spec, { graceMs: 60_000 })
      await disk.makeRoom()
      assert.equal((await exitOf(vmm, spec)).cause, ExitCause.Guest)
      await vmm.forget(spec)
      await assertClean(volume)
    } finally {
      await disk.close()
    }
  })

  it('does not use a little room on a full disk, and goes on when there is more', async () => {
    // The VM goes on when more than an eighth of the disk is free: 8 MB.
    const disk = await SmallDisk.open(64)
    try {
      const volume = await makeVolume(disk.directory, { sizeMb: 96 })
      await disk.fillUp({ leavingMb: 8 })
      const stalled = Promise.withResolvers<void>()
      vmm.onStalled((_, now) => now && stalled.resolve())
      const spec = await started(volume, 'head -c 50000000 /dev/urandom > /data/x; sync; sleep 1000000')
      await stalled.promise
      // QEMU tells of the first write that failed. Others that it began before may still be under way, and
      // would take the room.
      await delay(stallRetryMs)
      await disk.makeRoom({ mb: 6 })
      await delay(2 * stallRetryMs + 500)
      const free = await freeBytesAt(disk.directory)
      assert.ok(free >= 6 * mebibyte, `${free} bytes are free`)
      assert.equal((await vmm.status(spec))?.stalled, true)
      await disk.makeRoom({ mb: 6 })
      const isUsed = async () => (await freeBytesAt(disk.directory)) < 4 * mebibyte
      await until('it takes what there is', isUsed, { limitMs: 30_000 })
    } finally {
      await disk.close()
    }
  })

  it('is open in its VMM only: its keeper knows its path but can not read it', async () => {
    const volume = await make()
    const spec = await started(volume, 'sleep 1000000')
    const isPathOnly = (flags: number) => (flags & openPathFlag) !== 0
    const keepers = await openFlags(await bench.pidOf(spec, 'keeper'), volume.path)
    assert.deepEqual(keepers.map(isPathOnly), [true])
    const vmms = await openFlags(await bench.pidOf(spec, 'qemu'), volume.path)
    assert.ok(vmms.length > 0 && !vmms.some(isPathOnly))
  })

  it('is mounted where links lead inside the image, and where nothing was', async () => {
    for (const [at, really] of [
      ['/inside', '/srv/inner'],
      ['/climbing/more', '/srv/inner/more'],
      ['/made/on/the way', '/made/on/the way'],
    ] as const)
      assert.match(
        await run(await make({ at }), 'cat /proc/mounts'),
        new RegExp(`^/dev/vd. ${really.replace(' ', String.raw`\\040`)} ext4 rw,noatime`, 'm'),
      )
  })

  const refusals = {
    '/full': /the image has files there/,
    '/etc/passwd/x': /no directory/,
    '/nowhere': /no directory/,
    '/round': /no directory/,
    '/process/x': /the platform's/,
    '/devices': /the platform's/,
    '/settings': /the platform's/,
    '/own': /the platform's/,
    '/magic/data': /no directory|the platform's/,
    [`/${'x'.repeat(255)}`.repeat(15)]: undefined,
  }
  it('is refused in words where it can not be mounted, and there is no VM then', async function () {
    this.timeout(manyStartsMs)
    for (const [at, reason] of Object.entries(refusals)) {
      const spec = await bench.spec({ argv: ['true'], volume: await make({ at }) })
      if (reason === undefined) {
        await vmm.start(spec)
        await exitOf(vmm, spec)
        await vmm.forget(spec)
        continue
      }
      await assert.rejects(vmm.start(spec), (error: VmmError) => {
        assert.equal(error.failure, 'VolumeUnusable')
        assert.ok(error.message.startsWith(`the volume can not be mounted at '${at}': `), error.message)
        assert.match(error.message, reason)
        return true
      })
      assert.equal(await vmm.status(spec), undefined)
    }
  })

  it('that has no file system is refused in words', async () => {
    const volume = await make()
    await writeFile(volume.path, Buffer.alloc(1024 * 1024), { flag: 'r+' })
    const spec = await bench.spec({ argv: ['true'], volume })
    await assert.rejects(vmm.start(spec), /'\/data': its file system was refused \(EINVAL\)/)
  })

  it('that is new belongs to the application or the owner of the image’s directory, and keeps an owner that is set later', async () => {
    const owner = 'stat -c "%u:%g %a"'
    const volume = await make()
    assert.equal(await run(volume, `echo x > /data/x && ${owner} /data`, 'app'), '1000:1000 755')
    assert.equal(
      await run(volume, `${owner} /data; chown 7:8 /data; chmod 700 /data; rm /data/x`),
      '1000:1000 755',
    )
    assert.equal(await run({ ...volume, at: '/theirs' }, `${owner} /theirs`), '7:8 700')
    if (!bench.context.facts.isRoot) return
    assert.equal(await run(await make({ at: '/theirs' }), `${owner} /theirs`), '1000:1000 750')
    assert.equal(await run(await make({ at: '/srv/inner' }), `${owner} /srv/inner`, 'app'), '0:0 755')
  })

  it('is one VM’s: a second one does not start, unless both only read', async () => {
    const volume = await make()
    const first = await started(volume, 'sleep 1000000')
    for (const readonly of [false, true]) {
      const second = await bench.spec({ argv: ['true'], volume: { ...volume, readonly } })
      // A VMM that starts from a template asks for no lock to read. Its guest finds that the file system is
      // in use.
      await assert.rejects(vmm.start(second), /Failed to get .* lock|was refused \(EROFS\)/)
    }
    assert.equal((await vmm.status(first))?.exit, undefined)
    await vmm.shutdown(first, { graceMs: 10_000 })
    await exitOf(vmm, first)
    const readers = [1, 2].map(async () => await started({ ...volume, readonly: true }, 'sleep 1000000'))
    await Promise.all(readers)
  })
})
