import { continueAsNew, setHandler } from '@temporalio/workflow'
import {
  AutoscalePhase,
  autoscaleWork,
  decideAutoscale,
  newAutoscaleLife,
} from '../../src/domain/autoscale/life.ts'
import type { AutoscaleLife, AutoscaleLifeEvent, AutoscaleWork } from '../../src/domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../../src/domain/autoscale/settings.ts'
import { createEntityWorker } from '../entity-worker.ts'
import { runEntity } from '../entity.ts'
import type { Entity, EntityLoop } from '../entity.ts'
import { autoscaleCalls } from './calls.ts'
import { autoscaleDetails } from './details.ts'
import * as message from './messages.ts'

/** What one run of the workflow hands to the next run. Times are absolute. */
export interface CarriedAutoscale {
  readonly life: AutoscaleLife
}

/**
 * The workflow of one autoscale configuration, as long as its row exists. While nothing happens, a watch is
 * under way. A watch adds nothing to the history, however long it lasts. The workflow has no recorder:
 * readers see its effect in the service's instances.
 */
export async function autoscale(settings: AutoscaleSettings, carried?: CarriedAutoscale): Promise<void> {
  await runEntity<AutoscaleLife, AutoscaleLifeEvent>({
    life: carried?.life ?? newAutoscaleLife(settings),
    decide: decideAutoscale,
    define: (loop) => define(loop, settings),
  })
}

type Loop = EntityLoop<AutoscaleLife, AutoscaleLifeEvent>

function define(loop: Loop, settings: AutoscaleSettings): Entity<AutoscaleLife, AutoscaleLifeEvent> {
  setHandler(message.configuredSignal, () => void loop.say({ kind: 'configured' }), {
    description: 'The service is configured, for the first time or again: begin anew',
  })
  const worker = createEntityWorker(loop, {
    ...autoscaleCalls(settings),
    workOf: (life) => workFor(life, loop.newRunWanted),
  })
  return {
    parts: [worker],
    isOver: ({ phase }) => phase === AutoscalePhase.Over && !worker.busy,
    nextRun: (life) => continueAsNew<typeof autoscale>(settings, { life }),
    stateOf: ({ phase }) => phase,
    details: (life) => autoscaleDetails(life, settings),
  }
}

/**
 * The work to do now. When a new run is wanted, a watch is called off, and the new run begins another watch.
 * A change of instances is finished first.
 */
function workFor(life: AutoscaleLife, newRunWanted: boolean): AutoscaleWork | undefined {
  const work = autoscaleWork(life)
  return work?.kind === 'watch' && newRunWanted ? undefined : work
}
