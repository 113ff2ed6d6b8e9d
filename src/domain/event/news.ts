import type { Asker } from './asker.ts'
import type { UserEventKind } from './user-event-kind.ts'

/**
 * What an event says beside its object: what happened, from what to what, why, and who asked. Plain JSON. A
 * workflow keeps the news of its life until they are written with the row.
 */
export interface News {
  readonly kind: UserEventKind
  /** When it happened. Absent: when it is written. */
  readonly atMs?: number
  readonly from?: string
  readonly to?: string
  /** One sentence without its subject, in the words of the explanations. */
  readonly why: string
  readonly asker: Asker
  /** Numbers and words for programs, such as the exit code. Never a secret. */
  readonly facts?: EventFacts
}

export type EventFacts = Readonly<Record<string, string | number | boolean>>

/**
 * The most news that wait for PostgreSQL in one workflow. It is away for hours before an instance that is
 * restarted all the time has as many. The oldest are dropped then.
 */
export const mostWaitingNews = 100
