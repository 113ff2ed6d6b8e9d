import { createRequire } from 'node:module'

/** Node's own parser of HTTP/1.1, as far as the tests use it. */
interface NativeParser {
  initialize(kind: number, resource: object, maxHeaderBytes: number, leniency: number): void
  /** Returns an error if the bytes are not valid. */
  execute(bytes: Buffer): number | Error
  /** Tells that the connection has ended. Returns an error if a message was under way. */
  finish(): Error | number | undefined
  [callback: number]: (...values: never[]) => unknown
}

interface NativeParserClass {
  new (): NativeParser
  readonly REQUEST: number
  readonly RESPONSE: number
  readonly kOnHeaders: number
  readonly kOnHeadersComplete: number
  readonly kOnBody: number
  readonly kOnMessageComplete: number
  readonly kLenientNone: number
}

/**
 * Node has no public way to its parser but a whole server or client with a stream, which would take too long
 * for so many cases. This module is where Node's own server and client have the parser from.
 */
const { HTTPParser, methods } = createRequire(import.meta.url)('_http_common') as {
  readonly HTTPParser: NativeParserClass
  readonly methods: readonly string[]
}

/** A request or an answer as Node reads it. */
export interface NodeMessage {
  readonly method: string
  readonly target: string
  readonly status: number
  readonly reason: string
  /** Names and values as they were sent, in their order. */
  readonly fields: readonly string[]
  readonly keepsAlive: boolean
  readonly upgrades: boolean
  body: string
  trailers: readonly string[]
  isComplete: boolean
}

type OnHead = (
  major: number,
  minor: number,
  fields: string[] | undefined,
  method: number | undefined,
  target: string | undefined,
  status: number | undefined,
  reason: string | undefined,
  upgrades: boolean,
  keepsAlive: boolean,
) => number

/** Reads the messages of one connection after the other, as strictly as Node's server and client do. */
export class NodeParser {
  /** All messages since `begin` whose head is complete. */
  messages: NodeMessage[] = []
  readonly #native = new HTTPParser()
  readonly #kind: number
  readonly #maxHeaderBytes: number
  #toHead = false
  /** Fields and pieces of the target that came before the end of the head or of the trailer. */
  #early: string[] = []
  #earlyTarget = ''

  constructor(kind: 'requests' | 'answers', maxHeaderBytes: number) {
    this.#kind = kind === 'requests' ? HTTPParser.REQUEST : HTTPParser.RESPONSE
    this.#maxHeaderBytes = maxHeaderBytes
    const onFields = (fields: string[], target: string): void => {
      this.#early.push(...fields)
      this.#earlyTarget += target
    }
    const onHead: OnHead = (_major, _minor, fields, method, target, status, reason, upgrades, keepsAlive) => {
      this.messages.push({
        method: method === undefined ? '' : (methods[method] ?? ''),
        target: target ?? this.#earlyTarget,
        status: status ?? 0,
        reason: reason ?? '',
        fields: fields ?? this.#early,
        keepsAlive,
        upgrades,
        body: '',
        trailers: [],
        isComplete: false,
      })
      this.#early = []
      this.#earlyTarget = ''
      // What Node's client returns: the answer has no body, whatever its fields say.
      return status !== undefined && (this.#toHead || status < 200 || status === 304) ? 1 : 0
    }
    const onBody = (bytes: Buffer): void => {
      const last = this.messages.at(-1)
      if (last !== undefined) last.body += bytes.toString('latin1')
    }
    const onComplete = (): void => {
      const last = this.messages.at(-1)
      if (last === undefined) return
      last.isComplete = true
      last.trailers = this.#early
      this.#early = []
    }
    this.#native[HTTPParser.kOnHeaders] = onFields
    this.#native[HTTPParser.kOnHeadersComplete] = onHead
    this.#native[HTTPParser.kOnBody] = onBody
    this.#native[HTTPParser.kOnMessageComplete] = onComplete
  }

  /** Begins with a new connection. `toHead`: the answers are those to a HEAD. */
  begin(options: { readonly toHead?: boolean } = {}): void {
    this.messages = []
    this.#early = []
    this.#earlyTarget = ''
    this.#toHead = options.toHead ?? false
    this.#native.initialize(this.#kind, {}, this.#maxHeaderBytes, HTTPParser.kLenientNone)
  }

  /** Returns why the bytes are not valid; undefined if they are. */
  feed(bytes: Buffer): string | undefined {
    if (bytes.length === 0) return undefined
    const result = this.#native.execute(bytes)
    return result instanceof Error ? nameOf(result) : undefined
  }

  /** Tells that the connection has ended. Returns why that is not valid; undefined if it is. */
  end(): string | undefined {
    const result = this.#native.finish()
    return result instanceof Error ? nameOf(result) : undefined
  }

  get completeCount(): number {
    let count = 0
    for (const { isComplete } of this.messages) if (isComplete) count += 1
    return count
  }
}

function nameOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
