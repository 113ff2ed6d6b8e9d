import type { getInstanceLogs } from '../../contract/instance/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import type { LogWindow } from '../../domain/host/api-protocol.ts'

export function presentLog(
  { uuid, name }: Pick<InstanceRow, 'uuid' | 'name'>,
  { outputBase64, availableStart, availableEnd, rangeStart, rangeEnd }: LogWindow,
): OperationEntry<typeof getInstanceLogs> {
  return {
    status: 'success',
    uuid,
    name,
    output: outputBase64,
    available: { start: availableStart, end: availableEnd },
    range: { start: rangeStart, end: rangeEnd },
  }
}
