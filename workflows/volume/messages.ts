import { defineQuery, defineSignal } from '@temporalio/workflow'
import { volumeEventSignalName } from '../../src/domain/instance/host-work.ts'
import type { VolumeEvent } from '../../src/domain/instance/host-work.ts'
import type { VolumeLife } from '../../src/domain/volume/lifecycle.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** The messages to `volume/<uuid>`, in addition to those that every entity takes. */
export const volumeWorkflowType = 'volume'

export function volumeWorkflowId(volumeUuid: string): string {
  return entityWorkflowId(volumeWorkflowType, volumeUuid)
}

/**
 * An operator wants the whole file system checked and repaired as far as possible, or a volume made that
 * could not be made.
 */
export const repairSignal = defineSignal('repair')
export const volumeEventSignal = defineSignal<[VolumeEvent]>(volumeEventSignalName)
export const volumeLifeQuery = defineQuery<VolumeLife>(lifeQueryName)
