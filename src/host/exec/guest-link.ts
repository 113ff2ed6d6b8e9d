import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { understands, wires } from '../../domain/protocols.ts'
import {
  encodeFrame,
  execVersion,
  FrameReader,
  greetingOf,
  GreetingReader,
  GuestFrame,
  HostFrame,
  maxGuestConnections,
  maxGuestPrograms,
  maxInputBytes,
  maxRequestBytes,
  UnsoundFrame,
} from './exec-frames.ts'
import type { ReceivedFrame } from './exec-frames.ts'
import { ExecRefused, ExecSession } from './exec-session.ts'
import type { ExecEnd, ExecRequest, TerminalSize } from './exec-session.ts'

/** The longest reason that is shown of a program that could not be run. */
const maxReasonLength = 256

export const programsRefusal = `an instance has at most ${maxGuestPrograms} programs and copies of users at a time`
export const connectionsRefusal = `an instance has at most ${maxGuestConnections} connections of tunnels at a time`
export const tooOldRefusal = 'the instance runs since before this was possible; restart it first'

/**
 * A connection to the exec server of one guest, with all its sessions. Emits `idle` when the last session
 * has ended, and `close` once. A guest that does not keep to the protocol loses its connection.
 */
export class GuestLink extends EventEmitter<{ idle: []; close: [] }> {
  readonly #socket: Socket
  readonly #reader = new FrameReader()
  readonly #sessions = new Map<number, GuestSession>()
  readonly #version: number

  constructor(socket: Socket, { version, rest: first }: { readonly version: number; readonly rest: Buffer }) {
    super()
    this.#socket = socket
    this.#version = version
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.once('close', () => {
      for (const session of this.#sessions.values())
        this.#end(session, { kind: 'lost', message: 'the instance ended, or closed the session' })
      this.emit('close')
    })
    if (first.length > 0) this.#take(first)
  }

  get isClosed(): boolean {
    return this.#socket.destroyed
  }

  get sessions(): number {
    return this.#sessions.size
  }

  open(request: ExecRequest): ExecSession {
    const isProgram = request.type === undefined || request.type === 'run'
    if (!isProgram && this.#version < execVersion) throw new ExecRefused('unable', tooOldRefusal)
    const number = this.#freeNumber(request)
    const session = new GuestSession(number, request, (type, payload) => this.#send(type, number, payload))
    this.#sessions.set(number, session)
    this.#send(HostFrame.Open, number, encodeRequest(request))
    return session
  }

  close(): void {
    this.#socket.destroy()
  }

  #freeNumber({ type }: ExecRequest): number {
    const isConnection = type === 'connect'
    const first = isConnection ? maxGuestPrograms : 0
    const length = isConnection ? maxGuestConnections : maxGuestPrograms
    const number = Array.from({ length }, (_, each) => first + each).find((each) => !this.#sessions.has(each))
    if (number === undefined)
      throw new ExecRefused('busy', isConnection ? connectionsRefusal : programsRefusal)
    return number
  }

  #send(type: HostFrame, session: number, payload?: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.write(encodeFrame(type, session, payload))
  }

  #take(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#hear(frame)
    } catch (error) {
      if (!(error instanceof UnsoundFrame)) throw error
      this.#socket.destroy()
    }
  }

  #hear({ type, session: number, payload }: ReceivedFrame): void {
    const session = this.#sessions.get(number)
    if (session === undefined) throw new UnsoundFrame('the guest speaks of a session that is not open')
    const end = session.hear(type, payload)
    if (end !== undefined) this.#end(session, end)
  }

  #end(session: GuestSession, end: ExecEnd): void {
    this.#sessions.delete(session.number)
    session.emit('end', end)
    if (this.#sessions.size === 0) this.emit('idle')
  }
}

class GuestSession extends ExecSession {
  readonly number: number
  readonly #send: (type: HostFrame, payload?: Buffer) => void
  /** The bytes of output that the guest may still send. */
  #outputLeft: number
  /** The bytes of input that the guest has not said to have taken. */
  #inputUntaken = 0
  #started = false
  readonly #isConnection: boolean
  #outputEnded = false

  constructor(number: number, request: ExecRequest, send: (type: HostFrame, payload?: Buffer) => void) {
    super(request)
    this.number = number
    this.#isConnection = request.type === 'connect'
    this.#outputLeft = this.windowBytes
    this.#send = send
  }

  override write(bytes: Buffer): void {
    this.#inputUntaken += bytes.length
    if (this.#inputUntaken > this.windowBytes) throw new Error('more input than the window has room for')
    for (let at = 0; at < bytes.length; at += maxInputBytes)
      this.#send(HostFrame.Input, bytes.subarray(at, at + maxInputBytes))
  }

  override endInput(): void {
    this.#send(HostFrame.EndInput)
  }

  override outputTaken(bytes: number): void {
    this.#outputLeft += bytes
    this.#send(HostFrame.OutputTaken, numberBytes(bytes))
  }

  override resize({ rows, columns }: TerminalSize): void {
    this.#send(HostFrame.Resize, numberBytes(rows + columns * 0x1_00_00))
  }

  override signal(number: number): void {
    this.#send(HostFrame.Signal, Buffer.from([number]))
  }

  override close(): void {
    this.#send(HostFrame.Close)
  }

  /** Takes a frame of the guest. Returns the end of the session once the guest tells it. */
  hear(type: GuestFrame, payload: Buffer): ExecEnd | undefined {
    if (type === GuestFrame.Failed) {
      if (payload.length < 1 || this.#started) throw new UnsoundFrame('a failure that can not be')
      return { kind: 'failed', code: payload[0] ?? 0, message: reasonOf(payload.subarray(1)) }
    }
    if (type === GuestFrame.Ended) return endOf(payload)
    if (type === GuestFrame.Started) {
      if (this.#started) throw new UnsoundFrame('a second start')
      this.#started = true
      this.emit('started')
    } else if (type === GuestFrame.OutputEnded) this.#endOutput()
    else if (type === GuestFrame.InputTaken) this.#noteInput(payload)
    else if (type === GuestFrame.Output || type === GuestFrame.ErrorOutput) this.#takeOutput(type, payload)
    else throw new UnsoundFrame('a frame that can not come now')
    return undefined
  }

  #noteInput(payload: Buffer): void {
    const taken = payload.length === 4 ? payload.readUInt32LE() : Infinity
    if (taken > this.#inputUntaken) throw new UnsoundFrame('more input taken than was sent')
    this.#inputUntaken -= taken
    this.emit('inputTaken', taken)
  }

  #endOutput(): void {
    if (!this.#isConnection || !this.#started || this.#outputEnded)
      throw new UnsoundFrame('an end of the output that can not be')
    this.#outputEnded = true
    this.emit('outputEnded')
  }

  #takeOutput(type: GuestFrame, payload: Buffer): void {
    this.#outputLeft -= payload.length
    if (this.#outputLeft < 0 || !this.#started || this.#outputEnded)
      throw new UnsoundFrame('more output than was permitted')
    this.emit('output', type === GuestFrame.Output ? 'stdout' : 'stderr', payload)
  }
}

function numberBytes(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  return bytes
}

function endOf(payload: Buffer): ExecEnd {
  const [kind, number = 0] = payload
  if (payload.length !== 2 || (kind !== 0 && kind !== 1)) throw new UnsoundFrame('an end that is none')
  return kind === 0 ? { kind: 'code', code: number } : { kind: 'signal', signal: number }
}

/** A guest's text, without what could steer a reader's terminal. */
function reasonOf(bytes: Buffer): string {
  return bytes
    .toString('utf8')
    .slice(0, maxReasonLength)
    .replace(/\p{Cc}/gu, '?')
}

/** Throws `ExecRefused` if the request has more bytes than a guest takes. */
function encodeRequest(request: ExecRequest): Buffer {
  return Buffer.from(
    recordsOf(request)
      .map((record) => `${record}\0`)
      .join(''),
  )
}

function recordsOf(request: ExecRequest): readonly string[] {
  if (request.type === 'connect') return [`connect=${request.port}`]
  if (request.type === 'pack') return [`pack=${request.path}`, ...(request.follow ? ['follow=1'] : [])]
  if (request.type === 'unpack')
    return [
      `unpack=${request.path}`,
      ...(request.extract ? ['extract=1'] : []),
      ...(request.owners ? ['owners=1'] : []),
    ]
  const { argv, terminal, term } = request
  return [
    ...argv.map((argument) => `arg=${argument}`),
    ...(terminal === undefined ? [] : [`tty=${terminal.rows} ${terminal.columns}`]),
    ...(term === undefined ? [] : [`term=${term}`]),
  ]
}

/** Throws `ExecRefused` if a guest would not understand the request. */
export function checkRequest(request: ExecRequest): void {
  if (recordsOf(request).some((record) => record.includes('\0')))
    throw new ExecRefused('unable', 'no argument or path may have a NUL')
  if ('argv' in request && (request.argv.length === 0 || request.argv[0] === ''))
    throw new ExecRefused('unable', 'a program has a name')
  if (encodeRequest(request).length > maxRequestBytes)
    throw new ExecRefused('unable', `a program and its arguments have at most ${maxRequestBytes} bytes`)
}

/** Greets the guest over a new connection. Undefined if the guest does not answer in time. */
export async function greetGuest(socket: Socket, limitMs: number): Promise<GuestLink | undefined> {
  const greeting = greetingOf(randomBytes(8))
  const reader = new GreetingReader(greeting)
  return await new Promise((resolve) => {
    const finish = (link?: GuestLink) => {
      clearTimeout(timer)
      socket.removeAllListeners('data').removeAllListeners('close')
      if (link === undefined) socket.destroy()
      resolve(link)
    }
    const timer = setTimeout(finish, limitMs)
    socket.once('close', () => finish())
    socket.on('data', (chunk: Buffer) => {
      const answer = readGreeting(reader, chunk)
      if (answer === undefined) return
      clearTimeout(timer)
      socket.removeAllListeners('data').removeAllListeners('close')
      if (answer === 'unsound' || !understands(wires.guestExec, answer.version)) finish()
      else resolve(new GuestLink(socket, answer))
    })
    socket.write(encodeFrame(HostFrame.Begin, 0, greeting))
  })
}

function readGreeting(reader: GreetingReader, chunk: Buffer): ReturnType<GreetingReader['push']> | 'unsound' {
  try {
    return reader.push(chunk)
  } catch (error) {
    if (error instanceof UnsoundFrame) return 'unsound'
    throw error
  }
}
