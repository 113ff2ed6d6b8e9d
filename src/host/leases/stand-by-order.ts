import { randomUUID } from 'node:crypto'
import type { StandByRefusal } from '../../domain/instance/host-work.ts'
import type { StandByOrder } from '../../domain/standby/host-lease-state.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import type { InstanceRecord } from '../instance/record.ts'

/**
 * Whether only the permit has to be written, because nothing of the instance ran or slept here. The instance
 * never ran, or this host lost what it had of it.
 */
export function isPermitAlone({ record }: InstanceEntry, { boot, epoch }: StandByOrder): boolean {
  return boot === 0 || (epoch === 0 && record === undefined)
}

/** The hold that an order asks for. It begins with the sleep. */
export function moveOf({ hold, volume }: StandByOrder): Pick<InstanceRecord, 'move'> {
  if (hold === undefined) return {}
  return { move: { role: 'old', to: hold, holdUuid: randomUUID(), ...(volume && { volume }) } }
}

/** The instance is not sent to standby. `reason` says why. */
export class StayAwake extends Error {
  override readonly name = 'StayAwake'
  readonly reason: StandByRefusal
  constructor(reason: StandByRefusal) {
    super(`no standby: ${reason}`)
    this.reason = reason
  }
}

export function standbyOf({
  boot,
  permit,
  stateful,
  graceMs,
}: StandByOrder): NonNullable<InstanceRecord['standby']> {
  return { boot, permit, stateful, graceMs }
}
