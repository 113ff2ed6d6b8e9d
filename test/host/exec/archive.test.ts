import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  languageFlags,
  sanitizerEnvironment,
  sanitizerFlags,
  sanitizerReport,
} from '../../support/guest-compiler.ts'
import { until } from '../../support/until.ts'

const guest = path.resolve(import.meta.dirname, '../../../guest/init')
/** As the guest has it, and with checks of every access to memory and of undefined behaviour. */
const builds = [
  { how: '', compiler: 'musl-gcc', flags: ['-O2', '-static'] },
  { how: ', checked by sanitizers', compiler: 'gcc', flags: sanitizerFlags },
]

/** The guest's archive code, as a program of this machine. */
for (const { how, compiler, flags } of builds)
  describe(`the archives of a guest${how}`, () => archiveTests(compiler, flags))

function archiveTests(compiler: string, flags: readonly string[]): void {
  let work: string
  let program: string
  before(() => {
    work = mkdtempSync(path.join(tmpdir(), 'roost-archive-'))
    program = path.join(work, 'archive')
    const sources = readdirSync(guest).filter((name) => /^archive-.*\.c$/.test(name))
    const own = path.join(import.meta.dirname, 'archive-program.c')
    const all = [own, ...sources.map((name) => path.join(guest, name))]
    execFileSync(compiler, [...languageFlags, ...flags, `-I${guest}`, '-o', program, ...all])
  })
  after(() => {
    rmSync(work, { recursive: true, force: true })
  })

  let at: string
  beforeEach(() => {
    at = mkdtempSync(path.join(work, 'test-'))
  })

  interface Outcome {
    readonly code: number | null
    readonly bytes: Buffer
    readonly err: string
  }

  function archive(args: readonly string[], input?: Buffer, user?: number): Outcome {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: at,
      env: { ...process.env, ...sanitizerEnvironment },
      maxBuffer: 64 << 20,
      ...(input !== undefined && { input }),
      ...(user !== undefined && { uid: user, gid: user }),
    })
    const err = stderr.toString('utf8')
    assert.doesNotMatch(err, sanitizerReport)
    return { code: status, bytes: stdout, err }
  }
  const tar = (args: readonly string[], input?: Buffer) =>
    execFileSync('tar', args, { cwd: at, ...(input !== undefined && { input }), maxBuffer: 64 << 20 })
  const inside = (...parts: readonly string[]) => path.join(at, ...parts)

  const longName = 'n'.repeat(150)

  function makeTree(): void {
    mkdirSync(inside('tree', 'sub', longName), { recursive: true })
    writeFileSync(inside('tree', 'program'), 'x'.repeat(100_000))
    chmodSync(inside('tree', 'program'), 0o751)
    utimesSync(inside('tree', 'program'), 1_000_000_000, 1_000_000_000)
    writeFileSync(inside('tree', 'sub', 'a name\nof two lines'), 'two')
    writeFileSync(inside('tree', 'sub', longName, 'größe'), 'deep')
    writeFileSync(inside('tree', 'empty'), '')
    symlinkSync('../elsewhere', inside('tree', 'link'))
    symlinkSync('/'.repeat(200), inside('tree', 'long link'))
    chmodSync(inside('tree', 'sub'), 0o550)
    utimesSync(inside('tree', 'sub'), 900_000_000, 900_000_000)
  }

  /** Everything about a tree that a copy keeps. */
  function picture(root: string): readonly string[] {
    const found = lstatSync(root)
    const own = `${String(found.mode)} ${String(Math.floor(found.mtimeMs / 1000))}`
    if (found.isSymbolicLink()) return [`${own} -> ${readlinkSync(root)}`]
    if (found.isFile()) return [`${own} ${readFileSync(root, 'latin1')}`]
    return [
      own,
      ...readdirSync(root)
        .sort()
        .flatMap((name) => picture(path.join(root, name)).map((line) => `${name}: ${line}`)),
    ]
  }

  it('are read by GNU tar, and those of GNU tar are read', () => {
    makeTree()
    const { bytes, code, err } = archive(['pack', 'tree'])
    assert.deepEqual([code, err], [0, ''])
    mkdirSync(inside('by-tar'))
    tar(['xpf', '-', '-C', 'by-tar'], bytes)
    assert.deepEqual(picture(inside('by-tar', 'tree')), picture(inside('tree')))
    for (const format of ['gnu', 'pax', 'ustar']) {
      const names = format === 'ustar' ? ['tree/program', 'tree/empty'] : ['tree']
      mkdirSync(inside(format))
      const made = tar(['-c', `--format=${format}`, '-f', '-', ...names])
      assert.deepEqual(archive(['unpack', format, 'extract'], made).err, '')
      const picked = names.map((name) => picture(inside(format, name)))
      assert.deepEqual(
        picked,
        names.map((name) => picture(inside(name))),
      )
    }
  })

  it('go by their name into a directory that is there, else by the name of the target', () => {
    makeTree()
    const wanted = picture(inside('tree'))
    const { bytes } = archive(['pack', 'tree'])
    mkdirSync(inside('there'))
    assert.equal(archive(['unpack', 'there'], bytes).code, 0)
    assert.deepEqual(picture(inside('there', 'tree')), wanted)
    assert.equal(archive(['unpack', 'new'], bytes).code, 0)
    assert.deepEqual(picture(inside('new')), wanted)
    const contents = archive(['pack', 'tree/.']).bytes
    mkdirSync(inside('filled'))
    assert.equal(archive(['unpack', 'filled/'], contents).code, 0)
    assert.deepEqual(readdirSync(inside('filled')), readdirSync(inside('tree')))
    const file = archive(['pack', 'tree/program']).bytes
    assert.equal(archive(['unpack', 'there/other'], file).code, 0)
    assert.deepEqual(picture(inside('there', 'other')), picture(inside('tree', 'program')))
  })

  it('say what is wrong with the target', () => {
    makeTree()
    const directory = archive(['pack', 'tree']).bytes
    const file = archive(['pack', 'tree/program']).bytes
    writeFileSync(inside('file'), '')
    const wrong = [
      [directory, 'file', 'file: it is a file, and a directory is copied to it\n'],
      [file, 'missing/', 'missing/: there is no such directory\n'],
      [file, 'missing/name', 'missing/: No such file or directory\n'],
      [file, 'file/name', 'file/name: Not a directory\n'],
    ] as const
    for (const [bytes, target, sentence] of wrong) {
      const { code, err } = archive(['unpack', target], bytes)
      assert.deepEqual([code, err], [1, sentence])
    }
    const missing = archive(['unpack', 'missing', 'extract'], directory)
    assert.deepEqual([missing.code, missing.err], [1, 'missing: No such file or directory\n'])
    assert.deepEqual(archive(['pack', 'missing']).err, 'missing: No such file or directory\n')
  })

  it('never leave their target, neither by their names nor by links', () => {
    mkdirSync(inside('target'))
    mkdirSync(inside('evil', 'out'), { recursive: true })
    writeFileSync(inside('evil', 'out', 'file'), 'evil')
    symlinkSync('..', inside('target', 'out'))
    const through = archive(['unpack', 'target', 'extract'], tar(['-cf', '-', '-C', 'evil', 'out/file']))
    assert.equal(through.code, 1)
    assert.match(through.err, /a symbolic link on the way leads out of the target/)
    const up = tar(['-cPf', '-', '--transform=s,evil/out,..,', 'evil/out/file'])
    assert.match(archive(['unpack', 'target', 'extract'], up).err, /has '\.\.'/)
    assert.match(archive(['unpack', 'target'], up).err, /has '\.\.'/)
    const link = tar(['-cf', '-', '-C', 'target', 'out'])
    rmSync(inside('target', 'out'))
    assert.equal(archive(['unpack', 'target', 'extract'], link).code, 0)
    assert.equal(
      archive(['unpack', 'target', 'extract'], tar(['-cf', '-', '-C', 'evil', 'out/file'])).code,
      1,
    )
    assert.deepEqual(readdirSync(at).sort(), ['evil', 'target'])
  })

  it('replace files and links, and do not write through them', () => {
    mkdirSync(inside('target'))
    writeFileSync(inside('victim'), 'safe')
    symlinkSync('../victim', inside('target', 'name'))
    writeFileSync(inside('name'), 'new')
    assert.equal(archive(['unpack', 'target'], archive(['pack', 'name']).bytes).code, 0)
    assert.equal(readFileSync(inside('target', 'name'), 'utf8'), 'new')
    assert.equal(readFileSync(inside('victim'), 'utf8'), 'safe')
  })

  it('leave a file as it is until the new one is complete, and nothing of one that is not', () => {
    mkdirSync(inside('target'))
    writeFileSync(inside('target', 'name'), 'old')
    writeFileSync(inside('name'), 'n'.repeat(2_000))
    const { bytes } = archive(['pack', 'name'])
    assert.equal(archive(['unpack', 'target'], bytes.subarray(0, 1_024)).code, 1)
    assert.equal(readFileSync(inside('target', 'name'), 'utf8'), 'old')
    assert.equal(archive(['unpack', 'target/other'], bytes.subarray(0, 1_024)).code, 1)
    assert.deepEqual(readdirSync(inside('target')), ['name'])
    assert.equal(archive(['unpack', 'target'], bytes).code, 0)
    assert.deepEqual(readdirSync(inside('target')), ['name'])
    assert.equal(readFileSync(inside('target', 'name'), 'utf8').length, 2_000)
  })

  it('leave nothing of a file at which a signal ends them', async () => {
    mkdirSync(inside('target'))
    writeFileSync(inside('name'), 'n'.repeat(2_000))
    const { bytes } = archive(['pack', 'name'])
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
      const child = spawn(program, ['unpack', 'target'], { cwd: at, stdio: ['pipe', 'ignore', 'inherit'] })
      child.stdin.write(bytes.subarray(0, 1_024))
      await until('it has begun', () => readdirSync(inside('target')).length > 0, { limitMs: 10_000 })
      child.kill(signal)
      assert.deepEqual(await once(child, 'exit'), [null, signal])
      assert.deepEqual(readdirSync(inside('target')), [])
    }
  })

  it('take the place of files and links only', () => {
    mkdirSync(inside('target', 'name'), { recursive: true })
    writeFileSync(inside('name'), 'x')
    const { bytes } = archive(['pack', 'name'])
    const intoDirectory = archive(['unpack', 'target'], bytes)
    assert.deepEqual(
      [intoDirectory.code, intoDirectory.err],
      [1, 'name: there is a directory of that name\n'],
    )
    execFileSync('mkfifo', [inside('pipe')])
    const ontoPipe = archive(['unpack', 'pipe'], bytes)
    const sentence = 'name: there is a device, pipe or socket of that name\n'
    assert.deepEqual([ontoPipe.code, ontoPipe.err], [1, sentence])
    assert.ok(lstatSync(inside('pipe')).isFIFO())
  })

  it('leave out devices, pipes and sockets, and say so', () => {
    mkdirSync(inside('special'))
    execFileSync('mkfifo', [inside('special', 'pipe')])
    const { code, err } = archive(['pack', 'special'])
    assert.deepEqual([code, err], [0, 'special/pipe: a pipe is left out\n'])
    const unpacked = archive(['unpack', '.', 'extract'], tar(['-cf', '-', 'special']))
    assert.deepEqual([unpacked.code, unpacked.err], [0, 'special/pipe: a device or pipe is left out\n'])
    assert.equal(archive(['pack', 'special/pipe']).code, 1)
  })

  it('keep hard links of others, and follow a link that was named if asked to', () => {
    mkdirSync(inside('hard'))
    writeFileSync(inside('hard', 'one'), 'shared')
    execFileSync('ln', [inside('hard', 'one'), inside('hard', 'two')])
    mkdirSync(inside('target'))
    const linked = archive(['unpack', 'target', 'extract'], tar(['-cf', '-', 'hard']))
    assert.equal(linked.code, 0, linked.err)
    assert.equal(lstatSync(inside('target', 'hard', 'two')).nlink, 2)
    symlinkSync('hard/one', inside('named'))
    const list = (args: readonly string[]) => tar(['-tvf', '-'], archive(args).bytes).toString('utf8')
    assert.match(list(['pack', 'named']), /^l.* named -> hard\/one\n$/)
    assert.match(list(['pack', 'named', 'follow']), /^-.* named\n$/)
  })

  it('keep the owners only where that was asked for, and only root can', () => {
    writeFileSync(inside('mine'), 'x')
    const owned = tar(['-cf', '-', '--owner=1234', '--group=5678', 'mine'])
    mkdirSync(inside('target'))
    chmodSync(inside('target'), 0o777)
    const ownerOf = () => lstatSync(inside('target', 'mine')).uid
    archive(['unpack', 'target', 'extract'], owned)
    assert.equal(ownerOf(), process.getuid?.())
    if (process.getuid?.() !== 0) return
    archive(['unpack', 'target', 'extract', 'owners'], owned)
    assert.equal(ownerOf(), 1234)
    chmodSync(work, 0o755)
    chmodSync(at, 0o755)
    const { code, err } = archive(['unpack', 'target', 'extract', 'owners'], owned, 4321)
    assert.deepEqual([code, err], [0, "the owners are not kept: the application's user is not root\n"])
    assert.equal(ownerOf(), 4321)
  })

  it('go on without what can not be read, and end with 1', function () {
    if (process.getuid?.() !== 0) this.skip()
    makeTree()
    chmodSync(inside('tree', 'program'), 0)
    chmodSync(inside('tree', 'sub'), 0o755)
    chmodSync(work, 0o755)
    chmodSync(at, 0o755)
    const { code, bytes, err } = archive(['pack', 'tree'], undefined, 4321)
    assert.deepEqual([code, err], [1, 'tree/program: Permission denied\n'])
    assert.match(tar(['-tf', '-'], bytes).toString('utf8'), /tree\/empty\n/)
  })

  it('are refused with a sentence where they are not sound', () => {
    mkdirSync(inside('target'))
    writeFileSync(inside('name'), 'x'.repeat(2_000))
    const sound = archive(['pack', 'name']).bytes
    const flipped = Buffer.from(sound)
    flipped[0] = 0x41
    const huge = tar(['-c', '--format=pax', '--pax-option=comment:=' + 'x'.repeat(20_000), '-f', '-', 'name'])
    truncateSync(inside('name'), 1_000_000)
    const sparse = tar(['-c', '-S', '--format=pax', '-f', '-', 'name'])
    const oldSparse = tar(['-c', '-S', '--format=gnu', '-f', '-', 'name'])
    const wrong = [
      [flipped, /^the archive is not sound: a header is wrong\n$/],
      [sound.subarray(0, 1_024), /^name: the archive ends in it\n$/],
      [Buffer.alloc(0), /^the archive is not sound: it ends too early\n$/],
      [Buffer.from('not an archive at all'.repeat(50)), /^the archive is not sound/],
      [huge, /^the archive is not sound: a description of an entry is wrong, too long/],
      [sparse, /of a sparse file\n$/],
      [oldSparse, /of a kind that can not be copied\n$/],
    ] as const
    for (const [bytes, sentence] of wrong) {
      const { code, err } = archive(['unpack', 'target', 'extract'], bytes)
      assert.equal(code, 1)
      assert.match(err, sentence)
    }
  })

  it('survive whatever is done to their bytes', () => {
    makeTree()
    const sound = archive(['pack', 'tree']).bytes
    mkdirSync(inside('target'))
    let seed = 1
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let run = 0; run < 200; run++) {
      const bytes = Buffer.from(sound)
      for (let change = 0; change < 4; change++) bytes[random(5_000)] = random(256)
      const { code } = archive(['unpack', 'target', 'extract'], bytes)
      assert.ok(code === 0 || code === 1, `it ended with ${String(code)} in run ${String(run)}`)
    }
    assert.deepEqual(readdirSync(at).sort(), ['target', 'tree'])
  })
}
