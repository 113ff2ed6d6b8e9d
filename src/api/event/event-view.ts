import type { listEvents } from '../../contract/event/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { EventRow } from '../../db/event/read.ts'

export function presentEvent(row: EventRow): OperationEntry<typeof listEvents> {
  const { position, at, kind, objectUuid, objectName, stateBefore, stateAfter } = row
  const { why, askedBy, askerName, requestId, facts } = row
  return {
    id: position,
    at: at.toISOString(),
    kind,
    object: {
      type: kind.split('.', 1)[0]!,
      ...(objectUuid === null ? {} : { uuid: objectUuid }),
      name: objectName,
    },
    ...(stateBefore === null ? {} : { from: stateBefore }),
    ...(stateAfter === null ? {} : { to: stateAfter }),
    why,
    by: { kind: askedBy, ...(askerName === null ? {} : { name: askerName }) },
    ...(requestId === null ? {} : { request_id: requestId }),
    ...(facts === null ? {} : { facts: { ...facts } }),
  }
}
