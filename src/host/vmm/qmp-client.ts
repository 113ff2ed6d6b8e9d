import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'

interface QmpMessage {
  readonly id?: number
  readonly return?: unknown
  readonly error?: { readonly class: string; readonly desc: string }
  readonly event?: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** The VMM sent something that is no message of its monitor protocol. Nothing more is read from it. */
export class QmpError extends Error {
  override readonly name = 'QmpError'
}

interface PendingCommand {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/**
 * The longest line that is accepted. A usual reply has some hundred bytes; a VMM that fails could send far
 * more.
 */
const maxLineBytes = 1 << 20
/** How much of a wrong line an error shows, which is enough to recognise it. */
const shownCharacters = 80

/**
 * The VMM's monitor protocol over a stream: one JSON object per line; replies may come in any order. When
 * the stream ends, all open commands fail. A line that is no message ends the stream. Emits `event` with
 * the name and data of each event.
 */
export class QmpClient extends EventEmitter<{ event: [string, Readonly<Record<string, unknown>>] }> {
  readonly #stream: Duplex
  readonly #pending = new Map<number, PendingCommand>()
  #nextId = 1
  #buffer = ''
  #ended = false
  /** Why this object ended the stream. Absent if the VMM ended it. */
  #fault: QmpError | undefined

  constructor(stream: Duplex) {
    super()
    this.#stream = stream
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => this.#receive(chunk))
    // The VMM resets the connection when it ends. `close` follows and is handled.
    stream.on('error', () => undefined)
    stream.once('close', () => this.#end())
  }

  /** Sends the first command of every session. */
  async negotiate(): Promise<void> {
    await this.execute('qmp_capabilities')
  }

  async execute(command: string, args: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    if (this.#ended) {
      throw new Error(`the VMM is gone; '${command}' can not be sent`, { cause: this.#fault })
    }
    const id = this.#nextId
    this.#nextId += 1
    this.#stream.write(`${JSON.stringify({ execute: command, arguments: args, id })}\n`)
    return await new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }

  #receive(chunk: string): void {
    this.#buffer += chunk
    const lines = this.#buffer.split('\n')
    this.#buffer = lines.pop() ?? ''
    if (this.#buffer.length > maxLineBytes) this.#refuse(`a line of more than ${maxLineBytes} bytes`)
    for (const line of lines) {
      if (this.#fault !== undefined) return
      const message = parseJson(line)
      if (isJsonObject(message)) this.#take(message)
      else this.#refuse(`a line that is no JSON object: ${line.slice(0, shownCharacters)}`)
    }
  }

  #refuse(what: string): void {
    this.#fault = new QmpError(`the VMM sent ${what}`)
    this.#stream.destroy()
  }

  #take(message: QmpMessage): void {
    if (message.event !== undefined) this.emit('event', message.event, message.data ?? {})
    if (message.id === undefined) return
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.error === undefined) pending?.resolve(message.return)
    else pending?.reject(new Error(`${message.error.class}: ${message.error.desc}`))
  }

  #end(): void {
    this.#ended = true
    const reason = this.#fault ?? new Error('the VMM ended before it answered')
    for (const { reject } of this.#pending.values()) reject(reason)
    this.#pending.clear()
  }
}
