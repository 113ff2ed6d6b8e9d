import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import {
  encodeFrame,
  FrameReader,
  GreetingReader,
  greetingOf,
  GuestFrame,
  HostFrame,
} from '../../../src/host/exec/exec-frames.ts'
import type { ReceivedFrame } from '../../../src/host/exec/exec-frames.ts'
import {
  languageFlags,
  sanitizerEnvironment,
  sanitizerFlags,
  sanitizerReport,
} from '../../support/guest-compiler.ts'
import { until } from '../../support/until.ts'

const guest = path.resolve(import.meta.dirname, '../../../guest/init')
const limitMs = 20_000
/** `ROOST_FUZZ_RUNS` and `ROOST_FUZZ_SEED` make a longer run, or another one. */
const runs = Number(process.env['ROOST_FUZZ_RUNS'] ?? 80)
const maxFrameBytes = 8 + 64 * 1024
/** Somebody who may change nothing of this machine, whatever becomes of a path. */
const nobody = 65_534

const open = (session: number, ...records: readonly string[]) =>
  encodeFrame(HostFrame.Open, session, Buffer.from(records.map((each) => `${each}\0`).join('')))
const input = (session: number, bytes: string | Buffer) =>
  encodeFrame(HostFrame.Input, session, Buffer.from(bytes))
const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** One of the conversations that a host may have, at full speed and without waiting for answers. */
const sound = [
  [open(0, 'arg=cat'), input(0, 'x'.repeat(9_000)), encodeFrame(HostFrame.EndInput, 0)],
  [open(1, 'arg=cat', 'tty=24 80', 'term=xterm'), encodeFrame(HostFrame.Resize, 1, number(0x0050_0018))],
  [open(2, 'arg=missing-program'), encodeFrame(HostFrame.Close, 2)],
  [open(3, 'arg=cat'), encodeFrame(HostFrame.Signal, 3, Buffer.from([10]))],
  [open(4, 'pack=small', 'follow=1'), encodeFrame(HostFrame.OutputTaken, 4, number(0))],
  [
    open(5, 'unpack=.', 'extract=1', 'owners=1'),
    input(5, Buffer.alloc(2_048)),
    encodeFrame(HostFrame.EndInput, 5),
  ],
  [open(8, 'connect=9'), input(8, 'early'), encodeFrame(HostFrame.EndInput, 8)],
  [open(71, 'connect=1'), encodeFrame(HostFrame.Close, 71)],
].map((frames) => Buffer.concat(frames))

describe('the exec server of a guest, checked by sanitizers', () => {
  let work: string
  let program: string
  let server: ChildProcess
  let port: Socket
  let said: Promise<string>
  let answers: ReceivedFrame[]
  before(() => {
    work = mkdtempSync(path.join(tmpdir(), 'roost-exec-server-'))
    chmodSync(work, 0o755)
    program = path.join(work, 'server')
    writeFileSync(path.join(work, 'small'), 'x')
    const isPart = (name: string) => /^(archive|exec)-.*\.c$|^(message|process|user)\.c$/.test(name)
    const sources = readdirSync(guest).filter(isPart)
    const own = path.join(import.meta.dirname, 'exec-server-program.c')
    const all = [own, ...sources.map((name) => path.join(guest, name))]
    execFileSync('gcc', [...languageFlags, ...sanitizerFlags, `-I${guest}`, '-o', program, ...all])
  })
  after(() => {
    rmSync(work, { recursive: true, force: true })
  })
  beforeEach(() => {
    server = spawn(program, [], {
      cwd: work,
      env: { PATH: process.env['PATH'], ...sanitizerEnvironment },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      ...(process.getuid?.() === 0 && { uid: nobody, gid: nobody }),
    })
    port = server.stdio[3] as Socket
    port.on('error', () => undefined)
    said = text(server.stderr!)
  })

  /** Begins anew, and reads frames from then on. */
  async function greet(round: number): Promise<void> {
    const greeting = greetingOf(Buffer.from(String(round).padStart(8, '0')))
    const reader = new GreetingReader(greeting)
    const frames = new FrameReader()
    let isNew = false
    answers = []
    port.removeAllListeners('data').on('data', (bytes: Buffer) => {
      const found = isNew ? { rest: bytes } : reader.push(bytes)
      if (found === undefined) return
      isNew = true
      answers.push(...frames.push(found.rest))
    })
    port.write(encodeFrame(HostFrame.Begin, 0, greeting))
    await until('it answers', () => isNew || server.exitCode !== null, { limitMs })
  }
  const ends = () => answers.filter(({ type }) => type === GuestFrame.Ended || type === GuestFrame.Failed)
  async function leave(): Promise<void> {
    port.destroy()
    const [code] = (await once(server, 'exit')) as [number | null]
    const report = await said
    assert.doesNotMatch(report, sanitizerReport)
    assert.equal(code, 0, report)
  }

  it('serves programs, copies and connections side by side', async () => {
    await greet(1)
    port.write(Buffer.concat(sound))
    // The terminal's `cat` goes on.
    await until('all but one have ended', () => ends().length === sound.length - 1, { limitMs })
    const output = answers.filter(({ type, session }) => type === GuestFrame.Output && session === 0)
    assert.ok(Buffer.concat(output.map(({ payload }) => payload)).equals(Buffer.alloc(9_000, 'x')))
    port.write(encodeFrame(HostFrame.Close, 1))
    await until('all have ended', () => ends().length === sound.length, { limitMs })
    await leave()
  })

  it('survives whatever a host sends, and serves on', async () => {
    let seed = Number(process.env['ROOST_FUZZ_SEED'] ?? 1)
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let run = 0; run < runs; run++) {
      await greet(run)
      const bytes = Buffer.concat([sound[random(sound.length)]!, sound[random(sound.length)]!])
      for (let change = random(4); change > 0; change--)
        bytes[random(Math.min(bytes.length, 60))] = random(256)
      // A frame may have got a length beyond its end, and takes some of these bytes. The rest is no frame.
      port.write(Buffer.concat([bytes, Buffer.alloc(maxFrameBytes, 0xff)]))
    }
    await greet(runs)
    port.write(open(0, 'arg=true'))
    await until('a program has ended', () => ends().length > 0, { limitMs })
    await leave()
  })
})
