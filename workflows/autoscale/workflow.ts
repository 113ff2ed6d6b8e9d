import {
  CancellationScope,
  condition,
  continueAsNew,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import {
  AutoscalePhase,
  autoscaleWork,
  decideAutoscale,
  newAutoscaleLife,
} from '../../src/domain/autoscale/life.ts'
import type { AutoscaleLife, AutoscaleLifeEvent, AutoscaleWork } from '../../src/domain/autoscale/life.ts'
import type { AutoscaleSettings } from '../../src/domain/autoscale/settings.ts'
import { autoscaleDetails } from './details.ts'
import * as message from './messages.ts'
import { createAutoscaleWorker } from './worker.ts'
import { receiveTheRest, wantsNewRun } from '../entity-loop.ts'
import type { LoopState } from '../entity-loop.ts'
import { deleteSignal } from '../entity-messages.ts'
import { stateAttribute } from '../search-attributes.ts'

/**
 * What one run hands to the next: times are absolute. A change that old values do not fit gets a new number.
 */
export interface CarriedAutoscale {
  readonly schemaVersion: 1
  readonly life: AutoscaleLife
}

/**
 * One autoscale configuration, for as long as its row exists. Messages and finished work feed its life; one
 * loop compares what that wants with what is under way. While nothing happens a watch is under way, which
 * leaves nothing in the history however long it lasts. A cancellation from outside changes nothing: a
 * configuration goes by being deleted.
 */
export async function autoscale(settings: AutoscaleSettings, carried?: CarriedAutoscale): Promise<void> {
  await CancellationScope.nonCancellable(() => live(settings, carried))
}

/** What handlers and finished work share with the loop. */
interface AutoscaleLoop extends LoopState {
  life: AutoscaleLife
  say(event: AutoscaleLifeEvent): void
}

function createLoop(life: AutoscaleLife): AutoscaleLoop {
  return {
    life,
    changed: true,
    refreshWanted: false,
    say(event) {
      this.life = decideAutoscale(this.life, event, Date.now())
      this.changed = true
    },
  }
}

async function live(settings: AutoscaleSettings, carried: CarriedAutoscale | undefined): Promise<void> {
  const { serviceUuid } = settings
  const loop = createLoop(carried?.life ?? newAutoscaleLife(settings))
  let shownPhase = loop.life.phase
  receive(loop)

  const onDone = (): void => {
    loop.changed = true
  }
  const worker = createAutoscaleWorker({ serviceUuid, say: (event) => loop.say(event), onDone })

  for (;;) {
    loop.changed = false
    const { life } = loop
    if (!worker.busy) {
      // Nothing is waited for between here and the end: what is heard by then begins another run.
      if (life.phase === AutoscalePhase.Over) return
      if (wantsNewRun(loop)) await continueAsNew<typeof autoscale>(settings, { schemaVersion: 1, life })
    }
    worker.align(workFor(loop))
    if (life.phase !== shownPhase) upsertSearchAttributes([{ key: stateAttribute, value: life.phase }])
    shownPhase = life.phase
    setCurrentDetails(autoscaleDetails(life, settings))
    await condition(() => loop.changed)
  }
}

/** A watch is called off for a new run, which watches on; what is done to instances is finished first. */
function workFor(loop: AutoscaleLoop): AutoscaleWork | undefined {
  const work = autoscaleWork(loop.life)
  return work?.kind === 'watch' && wantsNewRun(loop) ? undefined : work
}

/** Handlers are synchronous, so none is ever unfinished when a run ends. */
function receive(loop: AutoscaleLoop): void {
  setHandler(deleteSignal, () => loop.say({ kind: 'delete' }), {
    description: 'Its row is marked deleted: give all clones back and end',
  })
  setHandler(message.configuredSignal, () => loop.say({ kind: 'configured' }), {
    description: 'The service is configured, for the first time or again: begin anew',
  })
  setHandler(message.autoscaleLifeQuery, () => loop.life, { description: 'All that is known of its life' })
  receiveTheRest(loop)
}
