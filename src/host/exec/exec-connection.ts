import type { RawData, WebSocket } from 'ws'
import { execCommand, ExecClose, ExecStream, isExecStart } from '../../domain/instance/exec-protocol.ts'
import type { ExecCommand, ExecNews, ExecStart } from '../../domain/instance/exec-protocol.ts'
import { programLeasePrefix } from '../../domain/standby/lease-protocol.ts'
import type { AgentLog } from '../agent/agent-ports.ts'
import { HoldRefused, InstanceHold } from '../leases/instance-hold.ts'
import type { LeasesForHolds } from '../leases/instance-hold.ts'
import type { Vmm } from '../vmm/vmm.ts'
import { ExecRefused } from './exec-session.ts'
import type { ExecEnd, ExecRequest, ExecSession } from './exec-session.ts'

/** How long a client may take to say what it wants. */
const firstMessageMs = 10_000
/** How long a session waits for a sleeping or starting instance. */
const wakeLimitMs = 90_000

/** The most messages that wait. While one with input waits, no more are read. */
const maxWaiting = 64

/** What may come after the first message. */
type LaterCommand = Exclude<ExecCommand, ExecStart>

const refusals = {
  unable: ExecClose.Unable,
  busy: ExecClose.Busy,
  'not-running': ExecClose.NotRunning,
} as const

export interface ExecServerOptions {
  readonly agentSecret: string
  readonly leases: LeasesForHolds
  readonly vmm: Pick<Vmm, 'exec'>
  readonly log: AgentLog
}

/** One program, copy or connection, between the WebSocket of the API and its session in the guest. */
export class ExecConnection {
  readonly #socket: WebSocket
  readonly #options: ExecServerOptions & { readonly instanceUuid: string }
  readonly #gone = new AbortController()
  #asked = false
  #session: ExecSession | undefined
  /** The commands and the input that came before the program was there, or that wait for its window. */
  readonly #waiting: (Buffer | LaterCommand)[] = []
  #window = 0

  constructor(socket: WebSocket, options: ExecServerOptions & { readonly instanceUuid: string }) {
    this.#socket = socket
    this.#options = options
  }

  open(): void {
    const late = setTimeout(() => this.#close(ExecClose.TimedOut, 'nothing was asked for'), firstMessageMs)
    this.#socket.on('message', (data, isBinary) => {
      clearTimeout(late)
      this.#take(data, isBinary)
    })
    this.#socket.once('close', () => {
      clearTimeout(late)
      this.#gone.abort(new Error('the client is gone'))
      this.#session?.close()
    })
  }

  #take(data: RawData, isBinary: boolean): void {
    // Input that waited here would keep the answer to the close from being read.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (isBinary) {
      const bytes = data as Buffer
      if (!this.#asked || bytes[0] !== ExecStream.Input) return this.#unsound('bytes that are no input')
      if (bytes.length > 1) this.#waiting.push(bytes.subarray(1))
      return this.#pump()
    }
    const command = execCommand((data as Buffer).toString('utf8'))
    if (typeof command === 'string') return this.#unsound(command)
    if (isExecStart(command)) {
      if (this.#asked) return this.#unsound('only the first message says what is to be done')
      this.#asked = true
      void this.#run(command)
      return
    }
    if (!this.#asked) return this.#unsound('the first message says what is to be done')
    // A signal does not wait for input that the program does not take.
    if (command.type !== 'end_of_input' && this.#session !== undefined) carryOut(this.#session, command)
    else if (this.#waiting.length < maxWaiting) this.#waiting.push(command)
    else return this.#unsound('too many messages before the program has started')
    this.#pump()
  }

  async #run(request: ExecRequest): Promise<void> {
    const { leases, vmm, instanceUuid, log } = this.#options
    const signal = AbortSignal.any([this.#gone.signal, AbortSignal.timeout(wakeLimitMs)])
    let hold: InstanceHold | undefined
    try {
      const taken = await InstanceHold.take(leases, {
        instance: instanceUuid,
        prefix: programLeasePrefix,
        signal,
      })
      hold = taken.hold
      const session = await vmm.exec({ instanceUuid, boot: taken.boot }, request)
      this.#follow(session, taken.hold)
    } catch (error) {
      hold?.release()
      if (error instanceof HoldRefused) return this.#close(ExecClose.NotRunning, error.message)
      if (error instanceof ExecRefused) return this.#close(refusals[error.reason], error.message)
      if (this.#gone.signal.aborted) return
      if (signal.aborted) return this.#close(ExecClose.TimedOut, 'the instance did not come up in time')
      log.error({ instance: instanceUuid, err: error }, 'a program could not be run')
      this.#close(ExecClose.Lost, 'the host failed')
    }
  }

  #follow(session: ExecSession, hold: InstanceHold): void {
    this.#session = session
    this.#window = session.windowBytes
    session.on('started', () => this.#tell({ type: 'started' }))
    session.on('output', (stream, bytes) => {
      const name = stream === 'stdout' ? ExecStream.Output : ExecStream.ErrorOutput
      // The guest sends more only when this has left, so nothing piles up for a reader who does not read.
      this.#socket.send(Buffer.concat([Buffer.from([name]), bytes]), (error) => {
        if (error === undefined || error === null) session.outputTaken(bytes.length)
      })
    })
    session.on('outputEnded', () => this.#tell({ type: 'output_ended' }))
    session.on('inputTaken', (bytes) => {
      this.#window += bytes
      this.#pump()
    })
    session.once('end', (end) => {
      this.#session = undefined
      hold.release()
      this.#finish(end)
    })
    if (this.#gone.signal.aborted) session.close()
    else this.#pump()
  }

  /** Passes on what waits, as far as there is room, and reads on once nothing waits. */
  #pump(): void {
    const session = this.#session
    while (session !== undefined && this.#waiting.length > 0) {
      const [next] = this.#waiting
      if (next === undefined || (Buffer.isBuffer(next) && this.#window === 0)) break
      this.#waiting.shift()
      if (Buffer.isBuffer(next)) this.#feed(session, next)
      else carryOut(session, next)
    }
    if (this.#waiting.some((each) => Buffer.isBuffer(each))) this.#socket.pause()
    else this.#socket.resume()
  }

  #feed(session: ExecSession, bytes: Buffer): void {
    const now = bytes.subarray(0, this.#window)
    const later = bytes.subarray(now.length)
    if (later.length > 0) this.#waiting.unshift(later)
    this.#window -= now.length
    session.write(now)
  }

  #finish(end: ExecEnd): void {
    if (end.kind === 'lost') return this.#close(ExecClose.Lost, end.message)
    if (end.kind === 'code') this.#tell({ type: 'exit', code: end.code })
    else if (end.kind === 'signal') this.#tell({ type: 'exit', signal: end.signal })
    else this.#tell({ type: 'failed', code: end.code, message: end.message })
    this.#close(ExecClose.Done, '')
  }

  #tell(news: ExecNews): void {
    this.#socket.send(JSON.stringify(news), () => undefined)
  }

  #unsound(what: string): void {
    this.#close(ExecClose.Unsound, what)
  }

  #close(code: ExecClose, reason: string): void {
    this.#waiting.length = 0
    this.#socket.resume()
    this.#socket.close(code, Buffer.from(reason).subarray(0, maxReasonBytes).toString('utf8'))
  }
}

/** The close frame of a WebSocket has room for 123 bytes of text; a character may be cut off at the end. */
const maxReasonBytes = 120

function carryOut(session: ExecSession, command: LaterCommand): void {
  if (command.type === 'resize') session.resize(command)
  else if (command.type === 'signal') session.signal(command.signal)
  else session.endInput()
}
