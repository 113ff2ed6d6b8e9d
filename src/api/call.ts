import type { Logger } from 'pino'
import type { FailedEntry } from '../contract/envelope.ts'
import type { Operation, OperationBody, OperationEntry, OperationQuery } from '../contract/operation.ts'
import type { ParsedRequest } from '../contract/request/parsed-request.ts'
import type { Identity } from '../db/account/tokens.ts'

/** Who calls, and how long it matters to them. */
export interface Call {
  readonly identity: Identity
  /** The `Accept` header; empty where there is none. */
  readonly accept: string
  readonly signal: AbortSignal
  readonly log: Logger
}

/** What an operation answers: entries in the order of the request, or a text of its own form. */
export type Answer<O extends Operation> =
  | { readonly entries: readonly (OperationEntry<O> | FailedEntry)[] }
  | { readonly text: string; readonly contentType: string }

export type Handler<O extends Operation> = (
  request: ParsedRequest<OperationBody<O>, OperationQuery<O>>,
  call: Call,
) => Promise<Answer<O>>
