import type { ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { FailedEntry } from '../contract/envelope.ts'
import type { Operation, OperationBody, OperationEntry, OperationQuery } from '../contract/operation.ts'
import type { ParsedRequest } from '../contract/request/parsed-request.ts'
import type { Asker } from '../domain/event/asker.ts'
import type { Identity } from '../db/account/authenticator.ts'

/** The caller of an operation, and a signal that aborts when the answer is no longer wanted. */
export interface Call {
  readonly identity: Identity
  /** The caller as events name it. */
  readonly asker: Asker
  /** The `Accept` header; empty if there is none. */
  readonly accept: string
  /** Whether the request asks for a WebSocket. */
  readonly asksForWebSocket: boolean
  /** What the client of a stream has already; absent if it does not say so. */
  readonly lastEventId?: number
  /** Whether the token is still accepted. For answers that last long. */
  readonly stillValid: () => Promise<boolean>
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * The answer of an operation: entries in the order of the request, or a text in the operation's other form.
 */
export type Answer<O extends Operation> =
  | { readonly entries: readonly (OperationEntry<O> | FailedEntry)[] }
  | { readonly text: string; readonly contentType: string }
  /** Writes the answer piece by piece, without Koa. Throws only before it has written anything. */
  | { readonly stream: (response: ServerResponse) => Promise<void> }

export type Handler<O extends Operation> = (
  request: ParsedRequest<OperationBody<O>, OperationQuery<O>>,
  call: Call,
) => Promise<Answer<O>>
