import type { RawData, WebSocket } from 'ws'
import { execTokenCheckMs, maxExecMs } from '../../contract/limits.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { execCommand, ExecClose, ExecStream, isExecStart } from '../../domain/instance/exec-protocol.ts'
import type { ExecStart } from '../../domain/instance/exec-protocol.ts'
import { keepAlive } from '../../primitives/web-socket-pulse.ts'
import type { Call } from '../call.ts'
import type { ApiDeps } from '../deps.ts'

/** How long a client may take to say what it wants. */
const firstMessageMs = 10_000
/**
 * A side that has so many bytes of the other one still to send is a slow reader, and the other one waits.
 */
const maxUnsentBytes = 256 * 1024
/** The most messages of a client that wait until its host is connected. */
const maxEarlyMessages = 16
/** The codes of a close that no side sent: there was none, or the connection broke. */
const unsent: ReadonlySet<number> = new Set([1005, 1006])

export interface ExecRelayOptions {
  readonly deps: Pick<ApiDeps, 'nodes' | 'stopping'>
  readonly call: Call
  readonly row: InstanceRow
  /** The first messages that are taken. */
  readonly starts: readonly ExecStart['type'][]
  /** Records what was asked for. */
  readonly told: (start: ExecStart) => Promise<void>
}

/**
 * Carries the messages of one program, copy or connection between a client and the instance's host. What
 * the client sends is checked here; what the host sends is passed on as it is.
 */
export class ExecRelay {
  readonly #client: WebSocket
  readonly #options: ExecRelayOptions
  readonly #early: { readonly data: RawData; readonly isBinary: boolean }[] = []
  readonly #over = Promise.withResolvers<void>()
  #host: WebSocket | undefined
  #asked = false

  constructor(client: WebSocket, options: ExecRelayOptions) {
    this.#client = client
    this.#options = options
  }

  /** Resolves when the client's connection is over. */
  async run(): Promise<void> {
    const client = this.#client
    const { stopping } = this.#options.deps
    const timers = [
      setTimeout(() => {
        if (!this.#asked) this.#end(ExecClose.TimedOut, `no ${this.#wanted()} came`)
      }, firstMessageMs),
      setTimeout(() => this.#end(ExecClose.TimedOut, 'it went on for as long as it may'), maxExecMs),
      setInterval(() => void this.#checkToken(), execTokenCheckMs),
    ]
    const stop = () => this.#end(ExecClose.GoingAway, 'the API restarts')
    stopping.addEventListener('abort', stop)
    keepAlive(client)
    client.on('error', () => undefined)
    client.on('message', (data, isBinary) => this.#take(data, isBinary))
    client.once('close', () => this.#over.resolve())
    await this.#over.promise
    stopping.removeEventListener('abort', stop)
    for (const timer of timers) clearTimeout(timer)
    // Not a close frame: the host may be waiting for the program, and reads no frames then.
    this.#host?.terminate()
  }

  #take(data: RawData, isBinary: boolean): void {
    // What a client had sent before it heard of the end is dropped, so that its answer to the close is read.
    if (this.#client.readyState !== this.#client.OPEN) return
    const wrong = isBinary ? this.#wrongBytes(data as Buffer) : this.#wrongCommand(data as Buffer)
    if (wrong !== undefined) return this.#end(ExecClose.Unsound, wrong)
    if (this.#host !== undefined) return pass(this.#client, this.#host, { data, isBinary })
    this.#early.push({ data, isBinary })
    if (this.#early.length >= maxEarlyMessages) this.#client.pause()
  }

  #wrongBytes(bytes: Buffer): string | undefined {
    if (!this.#asked) return `${this.#wanted()} must be the first message`
    return bytes[0] === ExecStream.Input ? undefined : 'a client sends bytes of the stream 0 only'
  }

  #wrongCommand(text: Buffer): string | undefined {
    const command = execCommand(text.toString('utf8'))
    if (typeof command === 'string') return command
    const isStart = isExecStart(command)
    if (isStart === this.#asked || (isStart && !this.#options.starts.includes(command.type)))
      return `${this.#wanted()} comes first, and once`
    if (!isStart) return undefined
    this.#asked = true
    void this.#connect(command)
    return undefined
  }

  /** The first message that has to come, for a sentence. */
  #wanted(): string {
    return this.#options.starts.map((type) => `'${type}'`).join(' or ')
  }

  async #connect(start: ExecStart): Promise<void> {
    const { deps, call, row, told } = this.#options
    try {
      await told(start)
      const host = await deps.nodes.openExec(row)
      if (this.#client.readyState !== this.#client.OPEN) return host.terminate()
      this.#join(host)
    } catch (error) {
      call.log.warn({ err: error, instance: row.uuid }, 'the host of an instance opens no session')
      this.#end(ExecClose.HostUnreachable, 'the host of the instance does not answer')
    }
  }

  #join(host: WebSocket): void {
    this.#host = host
    keepAlive(host)
    host.on('error', () => undefined)
    host.on('message', (data, isBinary) => pass(host, this.#client, { data, isBinary }))
    host.once('close', (code, reason) => {
      if (unsent.has(code)) return this.#end(ExecClose.Lost, 'the connection to the host broke')
      this.#client.resume()
      this.#client.close(code, reason)
    })
    for (const early of this.#early.splice(0)) pass(this.#client, host, early)
    if (host.bufferedAmount <= maxUnsentBytes) this.#client.resume()
  }

  async #checkToken(): Promise<void> {
    const valid = await this.#options.call.stillValid().catch(() => true)
    if (!valid) this.#end(ExecClose.NoAccess, 'the token is not valid any more')
  }

  #end(code: ExecClose, reason: string): void {
    // A client that is not read from could not answer the close.
    this.#client.resume()
    this.#client.close(code, reason)
    this.#host?.terminate()
  }
}

/** Sends a message on, and reads no more of its sender while its receiver is slow. */
function pass(
  from: WebSocket,
  to: WebSocket,
  { data, isBinary }: { readonly data: RawData; readonly isBinary: boolean },
): void {
  to.send(data, { binary: isBinary }, () => {
    if (from.isPaused && to.bufferedAmount <= maxUnsentBytes) from.resume()
  })
  if (to.bufferedAmount > maxUnsentBytes) from.pause()
}
