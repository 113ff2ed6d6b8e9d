import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pack } from 'tar-stream'
import type { Header } from 'tar-stream'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { startExecHost } from '../../support/exec-host.ts'
import type { ExecHost } from '../../support/exec-host.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { Ended, RoostProgram } from '../../support/roost-program.ts'
import { settledEvents } from '../../support/settled-events.ts'

type Entry = Partial<Header> & Pick<Header, 'name'> & { readonly content?: string }

/** An archive as a guest may send it, sound or not. */
async function archiveOf(entries: readonly Entry[]): Promise<Buffer> {
  const packing = pack()
  for (const { content, ...header } of entries) packing.entry(header, content ?? '')
  packing.finalize()
  const pieces: Buffer[] = []
  for await (const piece of packing as unknown as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces)
}

describe('roost cp', () => {
  let api: TestApi
  let host: ExecHost
  let roost: RoostProgram
  let user: TestUser
  let at: string
  before(async () => {
    api = await startTestApi()
    host = await startExecHost(api)
    user = await api.addUser()
    await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
    roost = await createRoostProgram({ url: api.url, token: user.token })
  })
  after(async () => {
    await roost.remove()
    await host.close()
    await api.close()
  })
  beforeEach(() => {
    at = mkdtempSync(path.join(tmpdir(), 'roost-cp-'))
  })
  afterEach(() => {
    rmSync(at, { recursive: true, force: true })
  })

  const inside = (...parts: readonly string[]) => path.join(at, ...parts)
  const cp = async (...args: readonly string[]): Promise<Ended> => await roost.run(['cp', ...args])

  /** Copies what a hostile guest sends to `target`, beside which there is nothing. */
  async function receive(entries: readonly Entry[], target = 'target'): Promise<Ended> {
    host.archives.set('/evil', await archiveOf(entries))
    return await cp('web:/evil', inside(target))
  }

  function makeTree(): void {
    mkdirSync(inside('tree', 'sub'), { recursive: true })
    writeFileSync(inside('tree', 'sub', 'a name\nof two lines'), 'content')
    writeFileSync(inside('tree', 'n'.repeat(200)), 'long')
    writeFileSync(inside('tree', 'größe'), 'x'.repeat(300_000))
    chmodSync(inside('tree', 'größe'), 0o640)
    utimesSync(inside('tree', 'größe'), 1_000_000_000, 1_000_000_000)
    symlinkSync('sub', inside('tree', 'link'))
    chmodSync(inside('tree', 'sub'), 0o555)
    utimesSync(inside('tree', 'sub'), 900_000_000, 900_000_000)
  }

  it('keeps contents, rights, times and links on the way there and back', async () => {
    makeTree()
    assert.deepEqual(await cp(inside('tree'), 'web:/data'), { code: 0, out: '', err: '' })
    assert.deepEqual(host.requests.at(-1), { type: 'unpack', path: '/data', extract: false, owners: false })
    assert.deepEqual(await cp('web:/data', inside('back')), { code: 0, out: '', err: '' })
    for (const name of ['sub/a name\nof two lines', 'n'.repeat(200), 'größe'])
      assert.deepEqual(readFileSync(inside('back', name)), readFileSync(inside('tree', name)))
    const [file, directory] = [lstatSync(inside('back', 'größe')), lstatSync(inside('back', 'sub'))]
    assert.deepEqual([file.mode & 0o7777, file.mtimeMs], [0o640, 1_000_000_000_000])
    assert.deepEqual([directory.mode & 0o7777, directory.mtimeMs], [0o555, 900_000_000_000])
    assert.equal(readlinkSync(inside('back', 'link')), 'sub')
  })

  it('goes by its own name into a directory, and by that of the target elsewhere', async () => {
    writeFileSync(inside('file'), 'x')
    mkdirSync(inside('there'))
    await cp(inside('file'), 'web:/data/name')
    await cp('web:/data/name', inside('there'))
    await cp('web:/data/name', inside('there', 'other'))
    assert.equal(readFileSync(inside('there', 'name'), 'utf8'), 'x')
    assert.equal(readFileSync(inside('there', 'other'), 'utf8'), 'x')
    const refused = await cp('web:/data/name', inside('missing/'))
    assert.match(refused.err, /there is no directory/)
    assert.equal(refused.code, 1)
    mkdirSync(inside('tree'))
    writeFileSync(inside('tree', 'own'), 'y')
    await cp(inside('tree/.'), 'web:/contents/.')
    await cp('web:/contents/.', inside('there'))
    assert.equal(readFileSync(inside('there', 'own'), 'utf8'), 'y')
    assert.match((await cp('web:/contents/.', inside('file'))).err, /is a file/)
  })

  it('reads and writes archives as streams', async () => {
    writeFileSync(inside('file'), 'x')
    const made = execFileSync('tar', ['-C', at, '-cf', '-', 'file'], { encoding: 'latin1' })
    assert.equal((await roost.run(['cp', '-', 'web:/stream'], { input: made })).code, 0)
    assert.deepEqual(host.requests.at(-1), { type: 'unpack', path: '/stream', extract: true, owners: false })
    const { out, code } = await cp('web:/stream', '-')
    assert.deepEqual([code, out], [0, made])
  })

  it('passes on what the instance says, without what could steer a terminal', async () => {
    const { code, err } = await cp('web:/no\u001b[2Jthing', inside('target'))
    assert.equal(code, 1)
    assert.equal(
      err,
      'roost: /no\\u001b[2Jthing: No such file or directory\nroost: not everything was copied\n',
    )
    assert.equal(existsSync(inside('target')), false)
  })

  it('says which side is which, and what is not here', async () => {
    for (const sides of [
      ['a', 'b'],
      ['web:/a', 'web:/b'],
      ['-', '-'],
    ])
      assert.match((await cp(...sides)).err, /exactly one side/)
    assert.equal((await cp('web:', 'b')).code, 2)
    assert.match((await cp(inside('missing'), 'web:/x')).err, /can not be copied: ENOENT/)
    assert.equal((await cp('nobody:/x', at)).code, 3)
  })

  const directory = { name: 'evil/', type: 'directory' } as const
  const out = { name: 'evil/out', type: 'symlink', linkname: '..' } as const
  const hostile: Readonly<Record<string, readonly Entry[]>> = {
    'a name with ..': [directory, { name: 'evil/../victim', content: 'x' }],
    'a name with .. in the middle': [directory, { name: 'evil/sub/../../victim', content: 'x' }],
    'an absolute name': [directory, { name: '/tmp/roost-victim', content: 'x' }],
    'a second root': [directory, { name: 'victim', content: 'x' }],
    'a name that begins like the root': [directory, { name: 'evil2/victim', content: 'x' }],
    'a file through a link that it sent': [directory, out, { name: 'evil/out/victim', content: 'x' }],
    'a directory in place of a link that it sent': [
      directory,
      out,
      { name: 'evil/out/', type: 'directory' },
      { name: 'evil/out/victim', content: 'x' },
    ],
    'a link in place of a directory that it sent': [
      directory,
      { name: 'evil/out/', type: 'directory' },
      out,
      { name: 'evil/out/victim', content: 'x' },
    ],
    'a link as the root, and a file below it': [
      { name: 'evil', type: 'symlink', linkname: '..' },
      { name: 'evil/victim', content: 'x' },
    ],
    'a hard link': [directory, { name: 'evil/hard', type: 'link', linkname: '../victim' }],
    'a device': [directory, { name: 'evil/null', type: 'character-device', devmajor: 1, devminor: 3 }],
    'a file in a directory that did not come': [directory, { name: 'evil/a/b', content: 'x' }],
    'a name with an empty part': [directory, { name: 'evil//victim', content: 'x' }],
  }
  for (const [what, entries] of Object.entries(hostile)) {
    it(`takes nothing of an instance that sends ${what}`, async () => {
      const { code, err } = await receive(entries)
      assert.equal(code, 1, err)
      assert.match(err, /^roost: \S+: (it is|the directory|\S+ is (a symbolic link|there)|E[A-Z]+)/)
      assert.equal(existsSync(inside('victim')), false)
      assert.equal(existsSync('/tmp/roost-victim'), false)
      assert.equal(existsSync(inside('target', 'victim')), false)
    })
  }

  it('follows no link that an earlier copy has left', async () => {
    mkdirSync(inside('target'))
    assert.equal((await receive([directory, out])).code, 0)
    assert.equal(readlinkSync(inside('target', 'evil', 'out')), '..')
    const second = await receive([
      directory,
      { name: 'evil/out/', type: 'directory' },
      { name: 'evil/out/victim', content: 'x' },
    ])
    assert.match(second.err, /is a symbolic link, and nothing is written through it/)
    assert.equal(existsSync(inside('target', 'victim')), false)
  })

  it('replaces a link by the file that comes, and never writes through it', async () => {
    mkdirSync(inside('target'))
    writeFileSync(inside('victim'), 'safe')
    symlinkSync('../victim', inside('target', 'evil'))
    assert.equal((await receive([{ name: 'whatever', content: 'new' }])).code, 0)
    assert.equal(readFileSync(inside('victim'), 'utf8'), 'safe')
    assert.equal(readFileSync(inside('target', 'evil'), 'utf8'), 'new')
    assert.equal(existsSync(inside('target', 'whatever')), false)
  })

  it('leaves a file as it is until the new one is complete, and takes the place of no device', async () => {
    const file = path.join(at, 'file')
    writeFileSync(file, 'old')
    const whole = await archiveOf([{ name: 'file', content: 'n'.repeat(2_000) }])
    host.archives.set('/file', whole.subarray(0, 1_024))
    assert.equal((await cp('web:/file', file)).code, 1)
    assert.equal(readFileSync(file, 'utf8'), 'old')
    assert.deepEqual(readdirSync(at), ['file'])
    host.archives.set('/file', await archiveOf([{ name: 'file', content: 'new' }]))
    const pipe = path.join(at, 'pipe')
    execFileSync('mkfifo', [pipe])
    const { code, err } = await cp('web:/file', pipe)
    assert.deepEqual(
      [code, err],
      [1, `roost: file: ${pipe} is there already, and is a device, pipe or socket\n`],
    )
    assert.ok(lstatSync(pipe).isFIFO())
  })

  it('names the file that can not be written as the person knows it', async () => {
    host.archives.set('/file', await archiveOf([{ name: 'file', content: 'x' }]))
    const target = path.join(at, 'missing', 'name')
    const { code, err } = await cp('web:/file', target)
    assert.equal(code, 1)
    assert.equal(err, `roost: file: ENOENT: no such file or directory, open '${target}'\n`)
  })

  it('takes the rights of files, and neither setuid nor setgid', async () => {
    await receive([{ name: 'evil', mode: 0o6755, content: 'x' }])
    assert.equal(lstatSync(inside('target')).mode & 0o7777, 0o755)
  })

  it('says that an archive was cut off or is none', async () => {
    const whole = await archiveOf([{ name: 'evil', content: 'x'.repeat(5_000) }])
    host.archives.set('/evil', whole.subarray(0, 2_000))
    assert.equal((await cp('web:/evil', inside('target'))).code, 1)
    host.archives.set('/evil', Buffer.alloc(2_048, 'x'))
    assert.match((await cp('web:/evil', inside('target'))).err, /Invalid tar header/)
  })

  it('is told in an event with direction and path', async () => {
    await roost.run(['cp', '-', 'web:/told'], { input: '' })
    await cp('web:/told', '-')
    await settledEvents(api.database)
    const { events } = (
      await api.send({ path: '/v1/events?kind=instance.copied&count=1000', token: user.token })
    ).json.data
    const facts = events.map(
      ({ facts: { direction, path: of } }: { readonly facts: Readonly<Record<string, string>> }) =>
        `${direction} ${of}`,
    )
    assert.ok(facts.includes('to /told'), facts.join('; '))
    assert.ok(facts.includes('from /told'))
  })
})
