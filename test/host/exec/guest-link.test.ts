import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import {
  FrameReader,
  GreetingReader,
  greetingBytes,
  greetingOf,
  GuestFrame,
  HostFrame,
  UnsoundFrame,
  windowBytes,
} from '../../../src/host/exec/exec-frames.ts'
import type { ExecEnd } from '../../../src/host/exec/exec-session.ts'
import { greetGuest } from '../../../src/host/exec/guest-link.ts'
import type { GuestLink } from '../../../src/host/exec/guest-link.ts'

function frame(type: number, session: number, payload: Buffer | string = ''): Buffer {
  const bytes = Buffer.from(payload)
  const header = Buffer.from([type, session, 0, 0, 0, 0, 0, 0])
  header.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([header, bytes])
}

const started = frame(GuestFrame.Started, 0)

describe('the frames of a guest', () => {
  it('are the same however their bytes are cut', () => {
    const sent = [started, frame(GuestFrame.Output, 3, 'hello'), frame(GuestFrame.Ended, 7, '\0\0')]
    const bytes = Buffer.concat(sent)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 })), (sizes) => {
        const reader = new FrameReader()
        const frames = []
        let at = 0
        for (const size of [...sizes, bytes.length]) {
          frames.push(...reader.push(bytes.subarray(at, at + size)))
          at += size
        }
        assert.deepEqual(
          frames.map(({ type, session, payload }) => frame(type, session, payload)),
          sent,
        )
      }),
    )
  })

  it('are refused if they are longer than a guest may send, or of no known kind', () => {
    const unsound = [
      frame(GuestFrame.Output, 72, 'x'),
      frame(0x41, 0),
      frame(GuestFrame.Output, 0, 'x'.repeat(4097)),
      Buffer.from([GuestFrame.Started, 0, 1, 0, 0, 0, 0, 0]),
    ]
    for (const bytes of unsound) assert.throws(() => new FrameReader().push(bytes), UnsoundFrame)
  })

  it('begin after the answer to the greeting, and all before it is dropped, with a bound', () => {
    const greeting = greetingOf(Buffer.from('12345678'))
    const answer = frame(GuestFrame.Begin, 0, Buffer.concat([greeting, Buffer.from([1])]))
    const old = frame(
      GuestFrame.Begin,
      0,
      Buffer.concat([greetingOf(Buffer.from('87654321')), Buffer.from([1])]),
    )
    const reader = new GreetingReader(greeting)
    assert.equal(reader.push(Buffer.concat([Buffer.from('cut off'), old, answer.subarray(0, 9)])), undefined)
    const rest = Buffer.concat([answer.subarray(9), started])
    assert.deepEqual(reader.push(rest), { version: 1, rest: started })
    const flood = new GreetingReader(greeting)
    assert.throws(() => {
      for (let sent = 0; sent < 64; sent++) flood.push(Buffer.alloc(64 * 1024, 'x'))
    }, UnsoundFrame)
  })
})

describe('a connection to a guest that is hostile', () => {
  let directory: string
  let server: Server
  let guest: Socket
  let link: GuestLink
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-guest-link-'))
    server = createServer().listen(path.join(directory, 'exec.sock'))
    await once(server, 'listening')
  })
  async function greet(version: number): Promise<void> {
    const accepted = once(server, 'connection') as Promise<[Socket]>
    const socket = connect(path.join(directory, 'exec.sock'))
    const greeted = greetGuest(socket, 5_000)
    guest = (await accepted)[0]
    guest.on('error', () => undefined)
    const [hello] = (await once(guest, 'data')) as [Buffer]
    assert.deepEqual(
      hello.subarray(0, 8),
      frame(HostFrame.Begin, 0, Buffer.alloc(greetingBytes)).subarray(0, 8),
    )
    guest.write(frame(GuestFrame.Begin, 0, Buffer.concat([hello.subarray(8), Buffer.from([version])])))
    link = (await greeted) ?? assert.fail('the guest is greeted')
  }
  beforeEach(async () => await greet(2))
  afterEach(() => {
    link.close()
    guest.destroy()
  })
  after(async () => {
    server.close()
    await rm(directory, { recursive: true })
  })

  async function endAfter(...frames: readonly Buffer[]): Promise<ExecEnd> {
    const session = link.open({ argv: ['x'] })
    session.on('output', () => undefined)
    const ended = once(session, 'end') as Promise<[ExecEnd]>
    guest.write(Buffer.concat(frames))
    return (await ended)[0]
  }

  const number = (value: number) => Buffer.from(new Uint32Array([value]).buffer)

  it('is closed where the guest does not keep to the protocol, and its sessions are lost', async () => {
    const { kind } = await endAfter(started, started)
    assert.equal(kind, 'lost')
    assert.ok(link.isClosed)
  })

  const wrong: Readonly<Record<string, readonly Buffer[]>> = {
    'speaks of a session that is not open': [frame(GuestFrame.Started, 1)],
    'sends output before its start': [frame(GuestFrame.Output, 0, 'x')],
    'takes input that nobody sent': [started, frame(GuestFrame.InputTaken, 0, number(1))],
    'counts with too few bytes': [started, frame(GuestFrame.InputTaken, 0, 'xx')],
    'ends in no known way': [started, frame(GuestFrame.Ended, 0, '\x02\0')],
    'fails after its start': [started, frame(GuestFrame.Failed, 0, '\x7fno')],
    'begins again': [frame(GuestFrame.Begin, 0, 'x')],
    'ends the output of a program before its end': [started, frame(GuestFrame.OutputEnded, 0)],
    'sends more than its window': [
      started,
      ...Array.from({ length: windowBytes / 4096 + 1 }, () => frame(GuestFrame.Output, 0, 'x'.repeat(4096))),
    ],
  }
  for (const [what, frames] of Object.entries(wrong)) {
    it(`is closed where the guest ${what}`, async () => {
      assert.equal((await endAfter(...frames)).kind, 'lost')
    })
  }

  it('runs programs in a guest of an older version, and refuses what that does not know', async () => {
    link.close()
    guest.destroy()
    await greet(1)
    const refused = { name: 'ExecRefused', reason: 'unable', message: /restart it first/ }
    assert.throws(() => link.open({ type: 'connect', port: 7 }), refused)
    assert.throws(() => link.open({ type: 'pack', path: '/' }), refused)
    assert.deepEqual(await endAfter(started, frame(GuestFrame.Ended, 0, '\0\x05')), { kind: 'code', code: 5 })
  })

  it('has numbers of their own for connections, whose window is smaller and whose output may end', async () => {
    const session = link.open({ type: 'connect', port: 7 })
    assert.equal(session.windowBytes, 32 * 1024)
    const [opened] = (await once(guest, 'data')) as [Buffer]
    assert.deepEqual(opened, frame(HostFrame.Open, 8, 'connect=7\0'))
    const outputEnded = once(session, 'outputEnded')
    guest.write(Buffer.concat([frame(GuestFrame.Started, 8), frame(GuestFrame.OutputEnded, 8)]))
    await outputEnded
    const ended = once(session, 'end') as Promise<[ExecEnd]>
    guest.write(frame(GuestFrame.Output, 8, 'x'))
    assert.equal((await ended)[0].kind, 'lost')
  })

  it('shows no control characters of a reason, and no more than 256 characters', async () => {
    const end = await endAfter(frame(GuestFrame.Failed, 0, `\x7fno\u001b[2J\n${'x'.repeat(3_000)}`))
    assert.ok(end.kind === 'failed' && end.code === 127)
    assert.equal(end.message.length, 256)
    assert.match(end.message, /^no\?\[2J\?x+$/)
  })
})
