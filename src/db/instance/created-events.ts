import { thePlatform } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import type { Row } from '../schema/tables.ts'
import { eventObject } from '../event/write.ts'
import type { NewEvent } from '../event/write.ts'
import type { NewInstances } from './new-instances.ts'

type NewRow = Pick<Row<'instances'>, 'uuid' | 'name' | 'userUuid' | 'state' | 'nodeId'>

/** The events of new instances: each tells the first state and the host that was chosen. */
export function createdEvents(
  rows: readonly NewRow[],
  { asker = thePlatform, memoryMb, vcpus, image }: NewInstances,
): readonly NewEvent[] {
  return rows.map((row) => ({
    ...eventObject(row),
    kind: UserEventKind.InstanceCreated,
    to: row.state,
    why: `it was asked for, and host ${row.nodeId} has room for its ${memoryMb} MiB`,
    asker,
    facts: { image, memory_mb: memoryMb, vcpus, host: row.nodeId },
  }))
}
