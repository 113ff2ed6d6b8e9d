import type { Entry } from './answers.ts'
import type { ApiAccess } from './client.ts'
import { bytesOf } from './log-bytes.ts'
import { followStream } from './stream.ts'
import type { Lost } from './stream.ts'

type LogEntry = Entry<'GetInstanceLogsAnswer'>

export interface LogToFollow {
  /** The name or UUID of the instance. */
  readonly object: string
  /** The first byte; negative from the end. */
  readonly offset: number
  /** Ends the stream. */
  readonly signal: AbortSignal
  /** Called whenever the stream is connected. */
  readonly onOpen?: () => void
}

/** What the stream of a log says. */
export type LogMessage =
  | { readonly kind: 'log'; readonly bytes: Uint8Array; readonly range: LogEntry['range'] }
  /** Bytes before the next ones are not kept any more. */
  | { readonly kind: 'gap'; readonly message: string }
  /** The instance is deleted. Nothing follows. */
  | { readonly kind: 'end'; readonly message: string }
  | Lost

/** Follows the log of an instance until it is deleted: see `followStream`. */
export async function* followLog(
  access: ApiAccess,
  { object, offset, signal, onOpen }: LogToFollow,
): AsyncGenerator<LogMessage> {
  const path = `/v1/instances/${encodeURIComponent(object)}/log?follow=true&offset=${offset}`
  for await (const message of followStream<LogMessage>(access, { path, read: messageOf, signal, onOpen })) {
    yield message
    if (message.kind === 'end') return
  }
}

function messageOf(type: string | undefined, data: string): LogMessage | undefined {
  if (type === 'log') {
    const { output, range } = JSON.parse(data) as LogEntry
    return { kind: 'log', bytes: bytesOf(output), range }
  }
  if (type !== 'gap' && type !== 'end') return undefined
  return { kind: type, message: (JSON.parse(data) as { readonly message: string }).message }
}
