import proto from '@temporalio/proto'
import { connect } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Root } from 'protobufjs'

const root = proto as unknown as Root
const servicePackage = 'temporal.api.workflowservice.v1'

/** The end of one call: the status of gRPC, and the message if there is one. */
export interface GrpcAnswer {
  readonly status: number
  readonly text: string
  readonly message: Record<string, unknown> | undefined
}

/** What a call sends instead of a well-formed one. */
export interface RawCall {
  readonly path?: string
  readonly body?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** A client of gRPC that sends whatever it is told to, as a host does that was taken over. */
export class GrpcClient {
  readonly #session: ClientHttp2Session

  constructor(address: string) {
    this.#session = connect(`http://${address}`)
    this.#session.on('error', () => undefined)
  }

  /** Calls a method with a message in the form of its fields. */
  async call(method: string, fields: object = {}, raw: RawCall = {}): Promise<GrpcAnswer> {
    const type = root.lookupType(`${servicePackage}.${method}Request`)
    const body = raw.body ?? framed(type.encode(type.fromObject(fields)).finish())
    const stream = this.begin(raw.path ?? `/${servicePackage}.WorkflowService/${method}`, raw.headers)
    stream.end(body)
    const { headers, received } = await ended(stream)
    const answer = received.length === 0 ? undefined : decoded(`${method}Response`, received)
    return {
      status: Number(headers['grpc-status']),
      text: decodeURIComponent(String(headers['grpc-message'] ?? '')),
      message: answer,
    }
  }

  /** Begins a call without a message. */
  begin(path: string, headers: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
    const head = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
    return this.#session.request({ ...head, ...headers })
  }

  close(): void {
    this.#session.destroy()
  }
}

export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, 5)
  return frame
}

function decoded(typeName: string, frame: Buffer): Record<string, unknown> {
  const type = root.lookupType(`${servicePackage}.${typeName}`)
  return type.toObject(type.decode(frame.subarray(5)), { longs: Number })
}

async function ended(
  stream: ClientHttp2Stream,
): Promise<{ readonly headers: IncomingHttpHeaders; readonly received: Buffer }> {
  const pieces: Buffer[] = []
  let headers: IncomingHttpHeaders = {}
  stream.on('response', (first) => (headers = { ...headers, ...first }))
  stream.on('trailers', (last: IncomingHttpHeaders) => (headers = { ...headers, ...last }))
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  await new Promise<void>((resolve) => {
    stream.on('error', () => undefined).once('close', () => resolve())
  })
  return { headers, received: Buffer.concat(pieces) }
}
