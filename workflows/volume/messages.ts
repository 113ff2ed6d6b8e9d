import { defineQuery, defineSignal } from '@temporalio/workflow'
import { volumeEventSignalName } from '../../src/domain/instance/host-work.ts'
import type { VolumeEvent } from '../../src/domain/instance/host-work.ts'
import type { VolumeLife } from '../../src/domain/volume/lifecycle.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** What the world says to `volume/<uuid>`, beside what it says to every entity. */
export const volumeWorkflowType = 'volume'

export function volumeWorkflowId(volumeUuid: string): string {
  return entityWorkflowId(volumeWorkflowType, volumeUuid)
}

/** An operator's: check all of it and mend what can be mended, or make what could not be made. */
export const repairSignal = defineSignal('repair')
export const volumeEventSignal = defineSignal<[VolumeEvent]>(volumeEventSignalName)
export const volumeLifeQuery = defineQuery<VolumeLife>(lifeQueryName)
