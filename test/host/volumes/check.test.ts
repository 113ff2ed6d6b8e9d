import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { isLocked } from '../../../src/host/volumes/file-locks.ts'
import { FileVolumes } from '../../../src/host/volumes/file-volumes.ts'
import { verdictOf } from '../../../src/host/volumes/file-system-check.ts'
import { imagePath } from '../../../src/host/volumes/volume-directory.ts'
import { excerptOf, runVolumeTool } from '../../../src/host/volumes/volume-tool.ts'
import type { VolumeTool } from '../../../src/host/volumes/volume-tool.ts'
import { VolumeError } from '../../../src/host/volumes/volumes.ts'
import { until } from '../../support/until.ts'
import { fails, holdOf, instanceUuid, volumeUuid } from './conformance.ts'
import { debugFs, lookOver, overwrite, readAt, superblockOf } from './image.ts'

const uuid = volumeUuid(1)

describe('The check of a volume', function () {
  this.timeout(60_000)
  let directory: string
  let volumes: FileVolumes
  let image: string

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-volumes-'))
    volumes = await FileVolumes.open({ directory, reserveMb: 0 })
    image = imagePath(directory, uuid)
  })
  afterEach(async () => {
    await volumes.close()
    await rm(directory, { recursive: true, force: true })
  })

  for (const readonly of [false, true])
    it(`replays the journal after an unclean stop${readonly ? ', also for a guest that will only read' : ''}`, async () => {
      await volumes.make({ uuid, sizeMb: 64 })
      const content = randomBytes(4_096)
      const source = path.join(directory, 'block')
      await writeFile(source, content)
      await debugFs(image, 'jo', `jw -b 5000 ${source}`, 'jc')
      assert.match(await superblockOf(image), /needs_recovery/)
      assert.notDeepEqual(await readAt(image, 5_000 * 4_096, 4_096), content)
      await volumes.hold(holdOf(1, 1, { readonly }))
      assert.doesNotMatch(await superblockOf(image), /needs_recovery/)
      assert.deepEqual(await readAt(image, 5_000 * 4_096, 4_096), content)
    })

  it('mends what needs no decision', async () => {
    await volumes.make({ uuid, sizeMb: 64 })
    await debugFs(image, 'mkdir mark', 'setb 6000 3', 'ssv state 2')
    assert.notEqual((await lookOver(image)).code, 0)
    await volumes.hold(holdOf(1, 1))
    const { code, said } = await lookOver(image)
    assert.equal(code, 0, said)
    assert.match(await debugFs(image, 'stat mark'), /Type: directory/)
  })

  it('leaves the journal alone if a guest continues with the volume', async () => {
    await volumes.make({ uuid, sizeMb: 64 })
    await volumes.hold(holdOf(1, 1))
    const source = path.join(directory, 'block')
    await writeFile(source, randomBytes(4_096))
    await debugFs(image, 'jo', `jw -b 5000 ${source}`, 'jc')
    await volumes.hold(holdOf(1, 1, { continues: true }))
    assert.match(await superblockOf(image), /needs_recovery/)
  })

  it('refuses a volume with a lost superblock; a repair takes the copy and keeps the files', async () => {
    await volumes.make({ uuid, sizeMb: 256 })
    await debugFs(image, 'mkdir mark')
    await overwrite(image, 'superblock')
    await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
    await volumes.repair(uuid)
    await volumes.hold(holdOf(1, 1))
    assert.equal((await lookOver(image)).code, 0)
    assert.match(await debugFs(image, 'stat mark'), /Type: directory/)
  })

  it('refuses a volume with a lost inode table; a repair makes the rest consistent', async () => {
    await volumes.make({ uuid, sizeMb: 64 })
    await debugFs(image, 'mkdir mark')
    await overwrite(image, 'inode-table')
    await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeUnusable'))
    await volumes.repair(uuid)
    assert.equal((await lookOver(image)).code, 0)
  })

  it('says in a short plain sentence what is wrong, whatever the tenant wrote', async () => {
    await volumes.make({ uuid, sizeMb: 64 })
    await debugFs(image, 'ssv volume_name \u001b[31mevil')
    await overwrite(image, 'inode-table')
    const failed = await volumes.hold(holdOf(1, 1)).catch((error: unknown) => error)
    assert.ok(failed instanceof VolumeError)
    assert.match(failed.message, /^the file system of the volume is damaged/)
    assert.match(failed.message, /^[\u0020-\u007e]{40,600}$/)
  })

  it('and the repair give up on a file that is no file system', async () => {
    await volumes.make({ uuid, sizeMb: 8 })
    await overwrite(image, 'everything')
    await assert.rejects(volumes.hold(holdOf(1, 1)), {
      failure: 'VolumeUnusable',
      message:
        'the file system of the volume is damaged, and mending it may lose files: e2fsck: Bad magic number in super-block while trying to open the volume',
    })
    await assert.rejects(volumes.repair(uuid), fails('VolumeUnusable'))
    await volumes.remove(uuid)
  })

  it('and the repair leave a truncated file alone, until it is whole again', async () => {
    const cutShort = /the file of the volume has \d+ bytes, but .* put the whole file back/
    for (const sizeMb of [32, 64]) {
      await volumes.make({ uuid, sizeMb })
      await truncate(image, (sizeMb / 2) * 1_048_576)
      const cut = await readFile(image)
      await assert.rejects(volumes.hold(holdOf(1, 1)), cutShort)
      await assert.rejects(volumes.repair(uuid), cutShort)
      assert.ok(cut.equals(await readFile(image)))
      await truncate(image, sizeMb * 1_048_576)
      await volumes.hold(holdOf(1, 1))
      await volumes.release(instanceUuid(1))
      await volumes.remove(uuid)
    }
  })

  it('works on a file that was put back by hand', async function () {
    if (process.getuid?.() !== 0) this.skip()
    await volumes.make({ uuid, sizeMb: 8 })
    const file = await open(image, 'r')
    await file.chown(0, 0)
    await file.close()
    await volumes.hold(holdOf(1, 1))
  })

  it('and repair and removal do not touch a file that a process has locked', async () => {
    await volumes.make({ uuid, sizeMb: 8 })
    const locker = spawn('flock', ['--no-fork', image, 'cat'], { stdio: ['pipe', 'ignore', 'inherit'] })
    try {
      await until('the file is locked', () => lockedNow(image), { limitMs: 30_000 })
      await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeInUse'))
      await assert.rejects(volumes.repair(uuid), fails('VolumeInUse'))
      await assert.rejects(volumes.remove(uuid), fails('VolumeInUse'))
    } finally {
      locker.stdin.end()
    }
    await until('the lock is gone', async () => !(await lockedNow(image)), { limitMs: 30_000 })
    await volumes.hold(holdOf(1, 1))
  })

  it('does not run beside a repair: the hold is refused at once', async () => {
    await volumes.make({ uuid, sizeMb: 8 })
    const repaired = volumes.repair(uuid)
    await assert.rejects(volumes.hold(holdOf(1, 1)), fails('VolumeInUse'))
    await repaired
    await volumes.hold(holdOf(1, 1))
  })

  it('fails if the hold can not be read: that hold belongs to nobody and stays', async () => {
    await volumes.make({ uuid, sizeMb: 8 })
    await volumes.hold(holdOf(1, 1))
    await writeFile(path.join(path.dirname(image), 'hold.json'), '{"instan')
    const next = await FileVolumes.open({ directory, reserveMb: 0 })
    await assert.rejects(next.hold(holdOf(1, 1)), fails('VolumeInUse'))
    await next.release(instanceUuid(1))
    assert.equal((await next.holds()).length, 1)
    await next.release('unknown')
    await next.hold(holdOf(1, 1))
  })
})

describe('The end of e2fsck', () => {
  const table = {
    sound: [0, 1, 2, 3],
    damaged: [4, 5, 8, 12],
    'not-checked': [16, 32, 33, 64, 75, 126, 127, 128],
  } as const
  for (const [verdict, codes] of Object.entries(table))
    it(`with ${codes.join(', ')} means ${verdict}`, () => {
      for (const code of codes)
        assert.equal(verdictOf({ kind: 'exit', code, output: '', cut: false }), verdict, String(code))
    })

  it('by a signal or too late is blamed on the file; a conflict or a kill says nothing about it', () => {
    assert.equal(verdictOf({ kind: 'signal', signal: 'SIGSEGV', output: '' }), 'damaged')
    assert.equal(verdictOf({ kind: 'signal', signal: 'SIGXCPU', output: '' }), 'damaged')
    assert.equal(verdictOf({ kind: 'signal', signal: 'SIGKILL', output: '' }), 'not-checked')
    assert.equal(verdictOf({ kind: 'too-slow' }), 'damaged')
    assert.equal(verdictOf({ kind: 'conflict' }), 'not-checked')
  })

  it('is quoted in plain characters only, and cut', () => {
    assert.equal(excerptOf('x/dev/fd/3: a\u001b[1m\n\n  b\r\n'), 'a?[1m; b')
    assert.equal(excerptOf('y'.repeat(1_000)).length, 403)
  })

  it('is quoted without the advice that e2fsck gives to a person', () => {
    const told =
      'x: Inode 8 is wrong.\n\nx: UNEXPECTED INCONSISTENCY; RUN fsck MANUALLY.\n\t(i.e., without -a or -p options)\n'
    assert.equal(excerptOf(told), 'x: Inode 8 is wrong.')
  })
})

describe('A tool that works on a volume', function () {
  this.timeout(60_000)
  let directory: string
  let base: Omit<VolumeTool, 'command'>
  let close: () => Promise<void>
  const owner = process.getuid?.() === 0 ? { owner: 0x5000_0001 } : {}

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-volume-tool-'))
    const file = await open(path.join(directory, 'file'), 'w+')
    close = async () => {
      await file.close()
    }
    base = { descriptor: file.fd, ...owner, maxFileBytes: 65_536, limitMs: 50_000, maxOutputBytes: 100 }
  })
  afterEach(async () => {
    await close()
    await rm(directory, { recursive: true, force: true })
  })
  const sh = (script: string): Pick<VolumeTool, 'command'> => ({ command: ['sh', '-c', script] })

  it('has nothing of our environment, no rights, and a user of its own', async () => {
    process.env['ROOST_TEST_SECRET'] = 'secret'
    const end = await runVolumeTool({
      ...base,
      maxOutputBytes: 2_000,
      ...sh('env; id -u; grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status'),
    })
    assert.ok(end.kind === 'exit' && end.code === 0)
    assert.doesNotMatch(end.output, /SECRET/)
    assert.match(end.output, /NoNewPrivs:\t1/)
    if (process.getuid?.() === 0) assert.match(end.output, /1342177281\nCapEff:\t0{16}\nCapBnd:\t0{16}/)
  })

  it('sees no network but a loopback of its own that is down', async () => {
    if (process.getuid?.() !== 0) return
    const end = await runVolumeTool({ ...base, maxOutputBytes: 2_000, command: ['cat', '/proc/net/dev'] })
    assert.ok(end.kind === 'exit' && end.code === 0)
    const names = [...end.output.matchAll(/^ *(\w+):/gm)].map(([, name]) => name)
    assert.deepEqual(names, ['lo'])
    assert.match(end.output, /^ *lo: +0 +0 /m)
  })

  it('may print without end, and only the first part is kept', async () => {
    const end = await runVolumeTool({ ...base, ...sh('head -c 5000000 /dev/zero') })
    assert.ok(end.kind === 'exit' && end.cut)
    assert.equal(end.output.length, 100)
  })

  it('is ended when it makes the file larger than the volume', async () => {
    const end = await runVolumeTool({ ...base, ...sh('exec head -c 70000 /dev/zero >&3') })
    assert.ok(end.kind === 'signal' && end.signal === 'SIGXFSZ', JSON.stringify(end))
  })

  it('gets only bounded memory', async () => {
    const end = await runVolumeTool({
      ...base,
      command: ['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=3G', 'count=1'],
    })
    assert.ok(end.kind === 'exit' && /memory/.test(end.output), JSON.stringify(end))
  })

  it('is told when its processor time is over, before it is killed', async () => {
    const end = await runVolumeTool({
      ...base,
      maxOutputBytes: 2_000,
      limitMs: 7_000,
      command: ['grep', 'cpu time', '/proc/self/limits'],
    })
    assert.ok(end.kind === 'exit' && /cpu time +7 +12 +seconds/.test(end.output), JSON.stringify(end))
  })

  it('is killed before the platform where memory runs out', async () => {
    // The process has the score before it turns into the tool, or soon after.
    const end = await runVolumeTool({
      ...base,
      limitMs: 10_000,
      ...sh('until grep -qx 500 /proc/self/oom_score_adj; do :; done'),
    })
    assert.deepEqual(end, { kind: 'exit', code: 0, output: '', cut: false })
  })

  it('is ended when its time is over', async () => {
    assert.equal((await runVolumeTool({ ...base, limitMs: 50, command: ['sleep', '1000'] })).kind, 'too-slow')
  })

  it('is ended by the signal, with its reason', async () => {
    const given = new AbortController()
    const end = runVolumeTool({ ...base, signal: given.signal, command: ['sleep', '1000'] })
    await until('it runs', () => lockedNow(path.join(directory, 'file')), { limitMs: 30_000 })
    given.abort(new Error('enough'))
    await assert.rejects(end, /enough/)
    assert.equal(await lockedNow(path.join(directory, 'file')), false)
  })

  it('is the only tool on the file', async () => {
    const given = new AbortController()
    const first = runVolumeTool({ ...base, signal: given.signal, command: ['sleep', '1000'] })
    await until('it runs', () => lockedNow(path.join(directory, 'file')), { limitMs: 30_000 })
    assert.equal((await runVolumeTool({ ...base, command: ['true'] })).kind, 'conflict')
    given.abort(new Error('enough'))
    await assert.rejects(first, /enough/)
  })

  it('dies with the agent', async () => {
    const file = path.join(directory, 'file')
    const source = path.join(import.meta.dirname, '../../../src/host/volumes/volume-tool.ts')
    const script = `
      import { open } from 'node:fs/promises'
      import { runVolumeTool } from ${JSON.stringify(source)}
      const file = await open(${JSON.stringify(file)}, 'r+')
      await runVolumeTool({ ...${JSON.stringify(base)}, descriptor: file.fd, command: ['sleep', '1000'] })`
    const agent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
    await until('the tool runs', () => sleepsOn(file), { limitMs: 30_000 })
    agent.kill('SIGKILL')
    await until('the tool is gone', async () => !(await lockedNow(file)), { limitMs: 30_000 })
  })
})

async function lockedNow(place: string): Promise<boolean> {
  const file = await open(place, 'r')
  try {
    return await isLocked(file)
  } finally {
    await file.close()
  }
}

/** Whether the tool itself runs on the file, and no longer the programs before it, which set its bounds. */
async function sleepsOn(file: string): Promise<boolean> {
  if (!(await lockedNow(file))) return false
  const { stdout } = await promisify(execFile)('pgrep', ['-x', 'sleep']).catch(() => ({ stdout: '' }))
  for (const pid of stdout.split('\n').filter((line) => line !== '')) {
    const { stdout: open } = await promisify(execFile)('readlink', [`/proc/${pid}/fd/3`]).catch(() => ({
      stdout: '',
    }))
    if (open.trim() === file) return true
  }
  return false
}
