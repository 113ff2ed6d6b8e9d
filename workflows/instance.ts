import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  currentUpdateInfo,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow'
import { decide, newLifecycle } from '../src/domain/instance-lifecycle.ts'
import type { HostEvent } from '../src/domain/host-work.ts'
import { InstanceState } from '../src/domain/instance-state.ts'
import { effectsOf } from '../src/domain/lifecycle-effects.ts'
import { EventKind } from '../src/domain/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../src/domain/lifecycle-state.ts'
import { createHostWorker } from './host-worker.ts'
import { instanceDetails, whatComesNext } from './instance-details.ts'
import * as message from './instance-messages.ts'
import type { InstanceSettings } from '../src/domain/instance-settings.ts'
import type { TransitionAnswer } from './instance-messages.ts'
import { createRecorder } from './instance-recorder.ts'
import { keepAnswers } from './kept-answers.ts'
import type { KeptAnswer, KeptAnswers } from './kept-answers.ts'
import { stateAttribute } from './search-attributes.ts'

/** What one run hands to the next: plain JSON, times absolute. A change that old values do not fit gets a new number. */
export interface Carried {
  readonly schemaVersion: 1
  readonly life: Lifecycle
  readonly recorded: number
  readonly nodeAway: boolean
  readonly answers: readonly KeptAnswer[]
}

/**
 * One instance, for as long as it exists. Messages feed the lifecycle and are answered from it; one loop compares what
 * the lifecycle wants with what is under way. A cancellation from outside changes nothing: an instance goes by being deleted.
 */
export async function instance(settings: InstanceSettings, carried?: Carried): Promise<void> {
  await CancellationScope.nonCancellable(() => live(settings, carried))
}

/** What handlers and finished work share with the loop. */
interface Mind {
  life: Lifecycle
  /** The loop has something to look at. */
  changed: boolean
  refreshWanted: boolean
  readonly answers: KeptAnswers
  /** Whether the lifecycle took the event. */
  say(event: LifecycleEvent): boolean
}

function createMind(settings: InstanceSettings, carried: Carried | undefined): Mind {
  return {
    life: carried?.life ?? newLifecycle(settings, settings.recorded),
    changed: true,
    refreshWanted: false,
    answers: keepAnswers(carried?.answers ?? []),
    say(event) {
      const decision = decide(this.life, event, Date.now())
      if (decision.accepted) this.life = decision.life
      this.changed = true
      return decision.accepted
    },
  }
}

async function live(settings: InstanceSettings, carried: Carried | undefined): Promise<void> {
  const { instanceUuid, nodeId } = settings
  const mind = createMind(settings, carried)
  let shownState = mind.life.state
  receive(mind)

  const say = (event: LifecycleEvent): boolean => mind.say(event)
  const onDone = (): void => {
    mind.changed = true
  }
  const host = createHostWorker({ instanceUuid, nodeId, nodeAway: carried?.nodeAway ?? false, say, onDone })
  const recorder = createRecorder({ instanceUuid, recorded: carried?.recorded ?? 0, onDone })

  for (;;) {
    mind.changed = false
    const { life } = mind
    const effects = effectsOf(life)
    if (effects.deleteRow) break
    if (wantsNewRun(mind) && !host.busy && !recorder.busy) {
      const { recorded } = recorder
      const { nodeAway } = host
      await continueAsNew<typeof instance>(settings, {
        schemaVersion: 1,
        life,
        recorded,
        nodeAway,
        answers: mind.answers.kept,
      })
    }
    // The host first: its call leaves with this task, beside the write and not after it.
    host.align(effects.hostWork)
    recorder.align(life, effects)
    if (life.state !== shownState) upsertSearchAttributes([{ key: stateAttribute, value: life.state }])
    shownState = life.state
    setCurrentDetails(instanceDetails(life, { name: settings.name, nodeId, nodeAway: host.nodeAway }))
    // Nothing leads connections to an instance yet, so there are none to wait for.
    if (life.state === InstanceState.Draining) mind.say({ kind: EventKind.ConnectionsClosed })
    await untilChanged(mind, effects.wakeAtMs, whatComesNext(life, nodeId))
  }
  await condition(() => !recorder.busy)
  await recorder.deleteRow()
}

/** Handlers are synchronous, so none is ever unfinished when a run ends. */
function receive(mind: Mind): void {
  const answer = (event: LifecycleEvent): TransitionAnswer =>
    mind.answers.once(currentUpdateInfo()?.id, () => {
      const previousState = mind.life.state
      if (!mind.say(event)) {
        throw ApplicationFailure.nonRetryable('the instance is deleted', message.instanceDeletedFailure)
      }
      return { previousState, state: mind.life.state, revision: mind.life.revision }
    })
  setHandler(message.startUpdate, () => answer({ kind: EventKind.Start }), {
    description: 'Start, or run on',
  })
  setHandler(
    message.stopUpdate,
    ({ force, drainTimeoutMs }) => answer({ kind: EventKind.Stop, force, drainTimeoutMs }),
    { description: 'Shut down: after draining, or at once when forced' },
  )
  setHandler(message.deleteSignal, () => void mind.say({ kind: EventKind.Delete }), {
    description: 'End it and remove all of it',
  })
  setHandler(message.hostEventSignal, (event) => hearHost(mind, event), {
    description: 'A boot ended, or more is known of its start; may be repeated',
  })
  setHandler(
    message.refreshSignal,
    () => {
      mind.refreshWanted = true
      mind.changed = true
    },
    { description: 'Continue as new when nothing is under way' },
  )
  setHandler(message.lifecycleQuery, () => mind.life, { description: 'All that the lifecycle knows' })
  setDefaultSignalHandler(() => undefined)
}

/** The agent of a host may be newer than this worker, and know of more to tell: that is left aside. */
function hearHost(mind: Mind, event: HostEvent): void {
  if (event.kind === 'exited') mind.say({ kind: EventKind.Exited, exit: event.exit })
  else if (event.kind === 'started') mind.say({ kind: EventKind.Started, report: event.started })
}

function wantsNewRun(mind: Mind): boolean {
  return mind.refreshWanted || workflowInfo().continueAsNewSuggested
}

async function untilChanged(mind: Mind, wakeAtMs: number | undefined, summary: string): Promise<void> {
  const changed = (): boolean => mind.changed
  if (wakeAtMs === undefined) return condition(changed)
  const delayMs = wakeAtMs - Date.now()
  const early = delayMs > 0 && (await condition(changed, delayMs, { summary }))
  if (!early) mind.say({ kind: EventKind.Tick })
}
