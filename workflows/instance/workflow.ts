import {
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  currentUpdateInfo,
  patched,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
} from '@temporalio/workflow'
import { decide, newLifecycle } from '../../src/domain/instance/lifecycle.ts'
import type { HostEvent } from '../../src/domain/instance/host-work.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { effectsOf, HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { Effects } from '../../src/domain/instance/lifecycle-effects.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import { receiveTheRest, untilChanged, wantsNewRun } from '../entity-loop.ts'
import type { LoopState } from '../entity-loop.ts'
import { deleteSignal } from '../entity-messages.ts'
import { createHostWorker } from './worker.ts'
import { instanceDetails, whatComesNext } from './details.ts'
import * as message from './messages.ts'
import type { InstanceSettings } from '../../src/domain/instance/settings.ts'
import type { TransitionAnswer } from './messages.ts'
import { createRecorder } from './recorder.ts'
import { keepAnswers } from './kept-answers.ts'
import type { KeptAnswer, KeptAnswers } from './kept-answers.ts'
import { stateAttribute } from '../search-attributes.ts'

/**
 * Since then hosts tell when nothing is connected any more. Lives that drained before had nothing to wait
 * for.
 */
const drainedByHost = 'drained-by-host'

/** Since then hosts end what failed starts may have left; before, they were not asked to. */
const endedByHost = 'failed-starts-ended-by-host'

/**
 * What one run hands to the next: plain JSON, times absolute. A change that old values do not fit gets a new
 * number.
 */
export interface Carried {
  readonly schemaVersion: 1
  readonly life: Lifecycle
  readonly recorded: number
  readonly nodeAway: boolean
  readonly answers: readonly KeptAnswer[]
}

/**
 * One instance, for as long as it exists. Messages feed the lifecycle and are answered from it; one loop
 * compares what the lifecycle wants with what is under way. A cancellation from outside changes nothing: an
 * instance goes by being deleted.
 */
export async function instance(settings: InstanceSettings, carried?: Carried): Promise<void> {
  await CancellationScope.nonCancellable(() => live(settings, carried))
}

/** What handlers and finished work share with the loop. */
interface InstanceLoop extends LoopState {
  life: Lifecycle
  readonly answers: KeptAnswers
  /** Whether the lifecycle took the event. */
  say(event: LifecycleEvent): boolean
}

function createLoop(settings: InstanceSettings, carried: Carried | undefined): InstanceLoop {
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
  const loop = createLoop(settings, carried)
  let shownState = loop.life.state
  receive(loop)

  const say = (event: LifecycleEvent): boolean => loop.say(event)
  const onDone = (): void => {
    loop.changed = true
  }
  const host = createHostWorker({ instanceUuid, nodeId, nodeAway: carried?.nodeAway ?? false, say, onDone })
  const recorder = createRecorder({ instanceUuid, recorded: carried?.recorded ?? 0, onDone })

  for (;;) {
    loop.changed = false
    const { life } = loop
    const effects = effectsOf(life)
    if (effects.deleteRow) break
    if (wantsNewRun(loop) && !host.busy && !recorder.busy) {
      const { recorded } = recorder
      const { nodeAway } = host
      await continueAsNew<typeof instance>(settings, {
        schemaVersion: 1,
        life,
        recorded,
        nodeAway,
        answers: loop.answers.kept,
      })
    }
    const drainsAtOnce = life.state === InstanceState.Draining && !patched(drainedByHost)
    // The host first: its call leaves with this task, beside the write and not after it.
    host.align(drainsAtOnce || restsAtOnce(life, effects) ? undefined : effects.hostWork)
    recorder.align(life, effects)
    if (life.state !== shownState) upsertSearchAttributes([{ key: stateAttribute, value: life.state }])
    shownState = life.state
    setCurrentDetails(instanceDetails(life, { name: settings.name, nodeId, nodeAway: host.nodeAway }))
    if (drainsAtOnce) loop.say({ kind: EventKind.ConnectionsClosed })
    await untilChanged(loop, {
      atMs: effects.wakeAtMs,
      summary: whatComesNext(life, nodeId),
      onTick: () => void loop.say({ kind: EventKind.Tick }),
    })
  }
  await condition(() => !recorder.busy)
  await recorder.deleteRow()
}

function restsAtOnce({ state }: Lifecycle, { hostWork }: Effects): boolean {
  return state === InstanceState.Stopped && hostWork?.kind === HostWorkKind.Stop && !patched(endedByHost)
}

/** A stop between two tries of a start, of a host that has no permit either. */
function stopsAtOnce({ state, retryAtMs, permit }: Lifecycle, { kind }: LifecycleEvent): boolean {
  const betweenTries = state === InstanceState.Starting && retryAtMs !== undefined && permit === undefined
  return betweenTries && kind === EventKind.Stop && !patched(endedByHost)
}

/** Handlers are synchronous, so none is ever unfinished when a run ends. */
function receive(loop: InstanceLoop): void {
  const answer = (event: LifecycleEvent): TransitionAnswer =>
    loop.answers.once(currentUpdateInfo()?.id, () => {
      const before = loop.life
      const previousState = before.state
      if (!loop.say(event)) {
        throw ApplicationFailure.nonRetryable('the instance is deleted', message.instanceDeletedFailure)
      }
      if (stopsAtOnce(before, event)) loop.say({ kind: EventKind.Absent, boot: before.boot })
      return { previousState, state: loop.life.state, revision: loop.life.revision }
    })
  setHandler(message.startUpdate, () => answer({ kind: EventKind.Start }), {
    description: 'Start, or run on',
  })
  setHandler(
    message.stopUpdate,
    ({ force, drainTimeoutMs, thenDelete }) => {
      const retires = thenDelete === true ? { thenDelete } : {}
      return answer({ kind: EventKind.Stop, force, drainTimeoutMs, ...retires })
    },
    { description: 'Shut down: after draining, or at once when forced' },
  )
  setHandler(deleteSignal, () => void loop.say({ kind: EventKind.Delete }), {
    description: 'End it and remove all of it',
  })
  setHandler(message.hostEventSignal, (event) => hearHost(loop, event), {
    description: 'What became of a boot, or how busy it is; may be repeated',
  })
  setHandler(message.lifecycleQuery, () => loop.life, { description: 'All that the lifecycle knows' })
  receiveTheRest(loop)
}

/** The agent of a host may be newer than this worker, and know of more to tell: that is left aside. */
function hearHost(loop: InstanceLoop, event: HostEvent): void {
  const heard = heardAs[event.kind] as ((event: HostEvent) => LifecycleEvent) | undefined
  if (heard !== undefined) loop.say(heard(event))
}

const heardAs = {
  exited: ({ exit }) => ({ kind: EventKind.Exited, exit }),
  started: ({ started }) => ({ kind: EventKind.Started, report: started }),
  idle: ({ boot, epoch, sinceMs }) => ({ kind: EventKind.Idle, boot, epoch, sinceMs }),
  waking: ({ boot, atMs }) => ({ kind: EventKind.Waking, boot, atMs }),
  'wake-failed': ({ boot, failure, message }) => ({ kind: EventKind.WakeFailed, boot, failure, message }),
  disabled: ({ boot, disabled }) => ({ kind: EventKind.Disabled, boot, disabled }),
  lost: ({ boot, atMs }) => ({ kind: EventKind.Lost, boot, atMs }),
  removed: () => ({ kind: EventKind.Removed }),
} satisfies {
  readonly [K in HostEvent['kind']]: (event: Extract<HostEvent, { readonly kind: K }>) => LifecycleEvent
}
