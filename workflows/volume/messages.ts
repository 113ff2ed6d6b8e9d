import { defineQuery, defineSignal } from '@temporalio/workflow'
import { volumeEventSignalName } from '../../src/domain/instance/host-work.ts'
import type { VolumeEvent } from '../../src/domain/instance/host-work.ts'
import type { VolumeLife } from '../../src/domain/volume/lifecycle.ts'
import { entityWorkflowId, lifeQueryName } from '../entity-messages.ts'

/** The messages to the workflow `volume/<uuid>`, beside those that every entity takes. */

export const volumeWorkflowType = 'volume'

export function volumeWorkflowId(volumeUuid: string): string {
  return entityWorkflowId(volumeWorkflowType, volumeUuid)
}

/**
 * An operator asks the host to check the whole file system and to repair what can be repaired. A volume
 * whose making was given up is made instead.
 */
export const repairSignal = defineSignal('repair')
/** The row names another host, because the volume moved there with its instance. May be repeated. */
export const volumeMovedSignal = defineSignal<[{ readonly nodeId: string }]>('moved')
export const volumeEventSignal = defineSignal<[VolumeEvent]>(volumeEventSignalName)
export const volumeLifeQuery = defineQuery<VolumeLife>(lifeQueryName)
