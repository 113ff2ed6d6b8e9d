import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  createReadStream,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { runInstance, viewOf } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'

const largeBytes = 200 * 1024 * 1024
/** One way takes some seconds on a machine that does nothing else. */
const largeLimitMs = 110_000
/** Much less than the file, and more than Node itself takes. */
const maxRssKb = 180 * 1024

describe('files that are copied from an instance and to it', () => {
  let stack: Stack
  let box: InstanceView
  let bare: InstanceView
  let roost: RoostProgram
  let at: string
  before(async () => {
    stack = await sharedStack()
    at = mkdtempSync(path.join(tmpdir(), 'roost-copy-'))
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    box = await runInstance(stack.api, {
      name: 'copy-box',
      image: 'busybox',
      memory_mb: 512,
      args: ['sh', '-c', 'while :; do sleep 1; done'],
    })
    // An image of one static program, without a shell.
    bare = await runInstance(stack.api, {
      name: 'copy-bare',
      image: 'hello',
      volumes: [{ size_mb: 64, at: '/data' }],
    })
  })
  after(async () => {
    await roost?.remove()
    for (const each of [box, bare])
      if (each !== undefined) await stack.api.one('deleteInstances', { object: each.uuid })
    rmSync(at, { recursive: true, force: true })
  })

  const inside = (...parts: readonly string[]) => path.join(at, ...parts)
  async function cp(...args: readonly string[]): Promise<void> {
    const { code, err } = await roost.run(['cp', ...args])
    assert.deepEqual([code, err], [0, ''])
  }

  /** Checksums, rights, times and links of a tree. */
  function picture(root: string, name = '.'): readonly string[] {
    const file = path.join(root, name)
    const found = lstatSync(file)
    const own = `${name} ${String(found.mode)} ${String(Math.floor(found.mtimeMs / 1000))}`
    if (found.isSymbolicLink()) return [`${own} ${readlinkSync(file)}`]
    if (found.isFile()) return [`${own} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`]
    const members = readdirSync(file).sort()
    return [own, ...members.flatMap((each) => picture(root, path.join(name, each)))]
  }

  function makeTree(): void {
    for (let each = 0; each < 200; each++) {
      const directory = inside('tree', `d${String(each % 7)}`, `e ${String(each % 3)}`)
      mkdirSync(directory, { recursive: true })
      const file = path.join(directory, `file\n${String(each)}${'x'.repeat(each)}`)
      writeFileSync(file, Buffer.alloc(each * 517, String(each)))
      chmodSync(file, 0o600 + (each % 8))
      utimesSync(file, 1_500_000_000 + each, 1_500_000_000 + each)
    }
    symlinkSync('d1/nowhere', inside('tree', 'link'))
    mkdirSync(inside('tree', 'empty'))
    utimesSync(inside('tree', 'd3'), 1_400_000_000, 1_400_000_000)
  }

  it('are the same after a way there and back, in an image with a shell and in one without', async () => {
    makeTree()
    const wanted = picture(inside('tree'))
    assert.ok(wanted.length > 220)
    for (const name of ['copy-box', 'copy-bare']) {
      await cp(inside('tree'), `${name}:/tmp-tree`)
      await cp(`${name}:/tmp-tree`, inside(name))
      assert.deepEqual(picture(inside(name)), wanted)
    }
    const script = 'find /tmp-tree -type f -exec echo x \\; | wc -l'
    const sums = await roost.run(['exec', 'copy-box', '--', 'sh', '-c', script])
    assert.equal(sums.out.trim(), '200')
  })

  it('are read by the tar of the instance, and its archives are read', async () => {
    writeFileSync(inside('one'), 'by way of a stream')
    const made = execFileSync('tar', ['-C', at, '-cf', '-', 'one'], { encoding: 'latin1' })
    const sent = await roost.run(['cp', '-', 'copy-box:/tmp'], { input: made })
    assert.deepEqual([sent.code, sent.err], [0, ''])
    const { out } = await roost.run(['exec', 'copy-box', '--', 'cat', '/tmp/one'])
    assert.equal(out, 'by way of a stream')
    const back = await roost.run(['cp', 'copy-box:/tmp/one', '-'])
    assert.match(execFileSync('tar', ['-tvf', '-'], { input: back.out, encoding: 'utf8' }), /18 .* one\n$/)
  })

  it('may be large, and cost no memory', async () => {
    const sum = createHash('sha256')
    const file = openSync(inside('large'), 'w')
    for (let written = 0; written < largeBytes; written += 1 << 20) {
      const piece = Buffer.alloc(1 << 20, String(written))
      sum.update(piece)
      writeSync(file, piece)
    }
    closeSync(file)
    const wanted = sum.digest('hex')
    for (const [from, to] of [
      [inside('large'), 'copy-box:/large'],
      ['copy-box:/large', inside('large-back')],
    ] as const) {
      const started = roost.start(['cp', from, to], { limitMs: largeLimitMs })
      let mostKb = 0
      const watch = setInterval(() => {
        mostKb = Math.max(mostKb, residentKb(started.child.pid ?? 0))
      }, 100)
      const { code, err } = await started.ended
      clearInterval(watch)
      assert.deepEqual([code, err], [0, ''])
      assert.ok(mostKb > 0 && mostKb < maxRssKb, `the command took ${String(mostKb)} KiB`)
    }
    const back = createHash('sha256')
    await pipeline(createReadStream(inside('large-back')), back)
    assert.equal(back.digest('hex'), wanted)
    await roost.run(['exec', 'copy-box', '--', 'rm', '/large'])
  })

  it('stop with a reason where the disk of the instance is full, or a path is wrong', async () => {
    const full = await roost.run(['cp', inside('large'), 'copy-bare:/data/'], { limitMs: largeLimitMs })
    assert.equal(full.code, 1)
    assert.equal(full.err, 'roost: large: No space left on device\nroost: not everything was copied\n')
    const missing = await roost.run(['cp', 'copy-bare:/missing', at])
    assert.equal(
      missing.err,
      'roost: /missing: No such file or directory\nroost: not everything was copied\n',
    )
  })

  it('end before they fill the memory of an instance, which goes on, and leave no half file', async () => {
    const { uuid } = await runInstance(stack.api, {
      name: 'copy-small',
      image: 'busybox',
      memory_mb: 64,
      args: ['sh', '-c', 'while :; do sleep 1; done'],
    })
    try {
      assert.equal((await roost.run(['cp', inside('one'), 'copy-small:/large'])).code, 0)
      const began = Date.now()
      const full = await roost.run(['cp', inside('large'), 'copy-small:/large'], { limitMs: largeLimitMs })
      const tookMs = Date.now() - began
      assert.equal(full.code, 1, full.err)
      assert.match(
        full.err,
        /^roost: large: the memory of the instance is full.*\nroost: not everything was copied\n$/,
      )
      assert.ok(tookMs < largeLimitMs / 2, `${tookMs} ms`)
      const { out } = await roost.run([
        'exec',
        'copy-small',
        '--',
        'sh',
        '-c',
        'cat /large; ls -a / | grep roost',
      ])
      assert.equal(out, 'by way of a stream')
      const { state, start_count } = await viewOf(stack.api, uuid)
      assert.deepEqual([state, start_count], ['running', 1])
    } finally {
      await stack.api.one('deleteInstances', { object: uuid })
    }
  })

  it('end when the command is interrupted, and leave no process', async () => {
    const started = roost.start(['cp', 'copy-box:/proc/kmsg', inside('endless')])
    const flood = roost.start(['cp', '-', 'copy-box:/tmp'], { input: '' })
    await flood.ended
    started.child.kill('SIGINT')
    await started.ended
    const { out } = await roost.run(['exec', 'copy-box', '--', 'ps'])
    assert.equal(out.split('\n').filter((line) => line.includes('roost-exec')).length, 1, out)
  })
})

function residentKb(pid: number): number {
  try {
    const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8')) ?? []
    return Number(kb)
  } catch {
    return 0
  }
}
