import type { Client } from '@temporalio/client'
import { repairSignal, volumeWorkflowId, volumeWorkflowType } from '../../workflows/volume/messages.ts'
import { nodeAttribute, stateAttribute, userAttribute } from '../../workflows/search-attributes.ts'
import { volumeEventSignalName } from '../domain/instance/host-work.ts'
import { newVolumeLife } from '../domain/volume/lifecycle.ts'
import type { VolumeSettings } from '../domain/volume/settings.ts'
import { createEntityCalls, isOver } from './temporal-calls.ts'
import { VolumeGone } from './volume-control.ts'
import type { VolumeControl } from './volume-control.ts'

export function createVolumeControl(client: Client): VolumeControl {
  const calls = createEntityCalls(client, { type: volumeWorkflowType, options: startOptions })
  return {
    ensureStarted: calls.ensureStarted,
    delete: calls.delete,
    async repair(settings) {
      try {
        await calls.signal(settings, repairSignal)
      } catch (error) {
        throw isOver(error) ? new VolumeGone(settings.volumeUuid, { cause: error }) : error
      }
    },
    hostGone: (volumeUuid) => calls.hostGone(volumeUuid, volumeEventSignalName),
    refresh: calls.refresh,
  }
}

function startOptions(settings: VolumeSettings) {
  const { volumeUuid, name, userUuid, nodeId, sizeMb, recorded } = settings
  return {
    workflowId: volumeWorkflowId(volumeUuid),
    typedSearchAttributes: [
      { key: userAttribute, value: userUuid },
      { key: nodeAttribute, value: nodeId },
      { key: stateAttribute, value: (recorded ?? newVolumeLife).phase },
    ],
    memo: { name },
    staticSummary: `volume ${name}, ${sizeMb} MB on host ${nodeId}`,
  }
}
