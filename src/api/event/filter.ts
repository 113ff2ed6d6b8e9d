import type { followEvents } from '../../contract/event/operations.ts'
import type { OperationQuery } from '../../contract/operation.ts'
import type { EventRow } from '../../db/event/read.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { isUuid } from '../../domain/object-name.ts'

type Filter = Pick<OperationQuery<typeof followEvents>, 'kind' | 'object' | 'by'>

/** The kinds that a word names: a kind, or all kinds of a type of object. */
export function kindsOf(word: string): readonly UserEventKind[] {
  return Object.values(UserEventKind).filter((kind) => kind === word || kind.startsWith(`${word}.`))
}

/** Whether an event passes the filter of a stream. */
export function passes({ kind, object, by }: Filter, event: EventRow): boolean {
  if (kind !== undefined && !kindsOf(kind).includes(event.kind)) return false
  if (by !== undefined && event.askedBy !== by) return false
  if (object === undefined) return true
  return isUuid(object)
    ? event.objectUuid === object.toLowerCase()
    : event.objectName === object.toLowerCase()
}
