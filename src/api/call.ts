import type { Logger } from 'pino'
import type { FailedEntry } from '../contract/envelope.ts'
import type { Operation, OperationBody, OperationEntry, OperationQuery } from '../contract/operation.ts'
import type { ParsedRequest } from '../contract/request/parsed-request.ts'
import type { Identity } from '../db/account/authenticator.ts'

/** The caller of an operation, and a signal that aborts when the answer is no longer wanted. */
export interface Call {
  readonly identity: Identity
  /** The `Accept` header; empty if there is none. */
  readonly accept: string
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * The answer of an operation: entries in the order of the request, or a text in the operation's other form.
 */
export type Answer<O extends Operation> =
  | { readonly entries: readonly (OperationEntry<O> | FailedEntry)[] }
  | { readonly text: string; readonly contentType: string }

export type Handler<O extends Operation> = (
  request: ParsedRequest<OperationBody<O>, OperationQuery<O>>,
  call: Call,
) => Promise<Answer<O>>
