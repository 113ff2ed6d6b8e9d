import {
  ApplicationFailure,
  continueAsNew,
  currentUpdateInfo,
  patched,
  setHandler,
} from '@temporalio/workflow'
import type { Asker } from '../../src/domain/event/asker.ts'
import type { News } from '../../src/domain/event/news.ts'
import type { HostEvent } from '../../src/domain/instance/host-work.ts'
import { decide, newLifecycle } from '../../src/domain/instance/lifecycle.ts'
import { effectsOf, HostWorkKind } from '../../src/domain/instance/lifecycle-effects.ts'
import type { HostWork } from '../../src/domain/instance/lifecycle-effects.ts'
import { projectionOf } from '../../src/domain/instance/lifecycle-projection.ts'
import { EventKind } from '../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import { newsOf } from '../../src/domain/instance/news.ts'
import type { InstanceSettings } from '../../src/domain/instance/settings.ts'
import { createEntityRecorder } from '../entity-recorder.ts'
import type { EntityRecorder } from '../entity-recorder.ts'
import { createEntityWorker } from '../entity-worker.ts'
import { runEntity } from '../entity.ts'
import type { Entity, EntityLoop, LoopPart } from '../entity.ts'
import { heardEvent } from '../host-calls.ts'
import type { HeardAs } from '../host-calls.ts'
import { rowWrites } from '../row-writes.ts'
import { instanceCalls, isOfMove, nameOfWork } from './calls.ts'
import { instanceDetails, whatComesNext } from './details.ts'
import { createPlacement } from './placement.ts'
import { keepAnswers } from './kept-answers.ts'
import type { KeptAnswer, KeptAnswers } from './kept-answers.ts'
import * as message from './messages.ts'
import { isMoving } from '../../src/domain/instance/lifecycle-move.ts'
import type { MoveRequest, TransitionAnswer } from './messages.ts'

/** What one run of the workflow hands to the next run. It is plain JSON; times are absolute. */
export interface CarriedInstance {
  readonly life: Lifecycle
  readonly recorded: number
  readonly nodeAway: boolean
  readonly answers: readonly KeptAnswer[]
  /** Absent in runs from before news existed. */
  readonly news?: readonly News[]
}

/** The workflow of one instance, as long as it exists. */
export async function instance(settings: InstanceSettings, carried?: CarriedInstance): Promise<void> {
  await runEntity<Lifecycle, LifecycleEvent>({
    life: carried?.life ?? newLifecycle(settings, settings.recorded),
    decide(life, event, nowMs) {
      const decision = decide(life, event, nowMs)
      return decision.accepted ? decision.life : undefined
    },
    newsOf,
    ...(carried?.news !== undefined && { news: carried.news }),
    define: (loop) => define(loop, settings, carried),
  })
}

type Loop = EntityLoop<Lifecycle, LifecycleEvent>

function define(
  loop: Loop,
  settings: InstanceSettings,
  carried: CarriedInstance | undefined,
): Entity<Lifecycle, LifecycleEvent> {
  const { instanceUuid, name } = settings
  const nodeOf = (life: Lifecycle): string => life.nodeId ?? settings.nodeId
  const answers = keepAnswers(carried?.answers ?? [])
  receive(loop, { answers, nodeOf })
  setHandler(
    message.hostLostSignal,
    (lost) => {
      if (lost.nodeId === nodeOf(loop.life)) loop.say({ kind: EventKind.HostLost, ...lost })
    },
    { description: 'Its host is lost: its VM has ended; may be repeated' },
  )
  const host = createEntityWorker(loop, {
    ...instanceCalls({ instanceUuid, nodeId: () => nodeOf(loop.life) }),
    workOf: (life) => effectsOf(life).hostWork,
    goesOn: goesOnBeside,
    nodeAway: carried?.nodeAway ?? false,
    placeOf: (life) => (life.placing === true ? nowhere : nodeOf(life)),
  })
  const copier = createEntityWorker(loop, {
    ...instanceCalls({ instanceUuid, nodeId: () => nodeOf(loop.life) }),
    workOf: (life) => effectsOf(life).copyWork,
    placeOf: nodeOf,
  })
  const placement = createPlacement(loop, { instanceUuid, nodeOf })
  const recorder = createEntityRecorder(loop, {
    recorded: carried?.recorded ?? 0,
    async write(life, news) {
      const { revision } = life
      await rowWrites.recordInstance({ instanceUuid, revision, projection: projectionOf(life), news })
    },
  })
  const hiding = createHiding(loop, { instanceUuid, recorder })
  return {
    // The call to the host and the write of the row begin in the same task. Recorded histories have them in
    // this order.
    parts: [host, copier, recorder, hiding, placement],
    // `host` and `copier` do not count: a call to a host that never comes back may still be open.
    isOver: (life) => effectsOf(life).deleteRow && !recorder.busy && !hiding.busy && !placement.busy,
    nextRun: (life) =>
      continueAsNew<typeof instance>(settings, {
        life,
        recorded: recorder.recorded,
        nodeAway: host.nodeAway,
        answers: answers.kept,
        news: loop.news,
      }),
    stateOf: ({ state }) => state,
    details: (life) =>
      instanceDetails(life, {
        name,
        nodeId: nodeOf(life),
        nodeAway: host.nodeAway,
        lack: placement.lack,
      }),
    due: (life) => ({
      atMs: effectsOf(life).wakeAtMs,
      summary: whatComesNext(life, nodeOf(life)),
      event: { kind: EventKind.Tick },
    }),
    deleteRow: () => rowWrites.deleteInstanceRow({ instanceUuid }),
  }
}

/**
 * Whether host work goes on beside the work that is wanted now. Several calls may be under way at once: a
 * forced stop beside the graceful stop that it overtakes, or the start of the next boot beside a start whose
 * boot has already ended. A start is called off for a stop or a removal, and so is an order that only leaves
 * a permit. The host has no record of such an instance yet, so its next agent knows nothing of the stop, and
 * a repeat of the order would leave the permit after it. A drain is called off if the instance is to run on.
 * A drain is not called off for a stop or a removal, because the host ends the drain itself then; a call-off
 * would let traffic in again before that. A step of a move is called off for anything else.
 */
function goesOnBeside(underWay: HostWork, wanted: HostWork | undefined): boolean {
  if (isOfMove(underWay)) return wanted !== undefined && nameOfWork(wanted) === nameOfWork(underWay)
  const ends = wanted?.kind === HostWorkKind.Stop || wanted?.kind === HostWorkKind.Remove
  if (underWay.kind === HostWorkKind.Start) return !ends
  if (underWay.kind === HostWorkKind.StandBy) return !ends || underWay.boot !== 0
  return underWay.kind !== HostWorkKind.Drain || ends || wanted?.kind === HostWorkKind.Drain
}

/** The place of work while the instance has no host. No host has an empty id. */
const nowhere = ''

/** Hides the row of an instance that deletes itself, once and after its last state was written. */
function createHiding(
  loop: Loop,
  of: { readonly instanceUuid: string; readonly recorder: EntityRecorder<Lifecycle> },
): LoopPart<Lifecycle> {
  const { instanceUuid, recorder } = of
  let hidden = false
  let busy = false

  async function hide(): Promise<void> {
    busy = true
    await rowWrites.hideInstance({ instanceUuid })
    hidden = true
    busy = false
    loop.lookAgain()
  }

  return {
    follow(life) {
      const isWritten = recorder.recorded >= life.revision
      if (effectsOf(life).hideRow && isWritten && !hidden && !busy) void hide()
    },
    get busy() {
      return busy
    },
  }
}

function receive(
  loop: Loop,
  { answers, nodeOf }: { readonly answers: KeptAnswers; readonly nodeOf: (life: Lifecycle) => string },
): void {
  const answer = (event: LifecycleEvent): TransitionAnswer =>
    answers.once(currentUpdateInfo()?.id, () => {
      const previousState = loop.life.state
      if (!loop.say(event)) {
        throw ApplicationFailure.nonRetryable('the instance is deleted', message.instanceDeletedFailure)
      }
      return { previousState, state: loop.life.state, revision: loop.life.revision }
    })
  setHandler(
    message.startUpdate,
    (request) => answer({ kind: EventKind.Start, ...askedBy(request?.asker) }),
    {
      description: 'Start, or run on',
    },
  )
  setHandler(
    message.stopUpdate,
    ({ force, drainTimeoutMs, thenDelete, asker }) => {
      const retires = thenDelete === true ? { thenDelete } : {}
      return answer({ kind: EventKind.Stop, force, drainTimeoutMs, ...retires, ...askedBy(asker) })
    },
    { description: 'Shut down: after draining, or at once when forced' },
  )
  setHandler(
    message.suspendUpdate,
    ({ drainTimeoutMs, asker }) => answer({ kind: EventKind.Suspend, drainTimeoutMs, ...askedBy(asker) }),
    { description: 'Go to standby now, with the memory kept' },
  )
  setHandler(
    message.changeUpdate,
    ({ change, asker }) => answer({ kind: EventKind.Change, change, ...askedBy(asker) }),
    { description: 'Take over a changed configuration, and restart for it if that was asked for' },
  )
  setHandler(
    message.moveUpdate,
    ({ from, to, volume, asker }) => {
      const { life } = loop
      const { state, revision } = life
      // It is there already.
      if (nodeOf(life) === to.nodeId && life.move === undefined)
        return { previousState: state, state, revision }
      const why = whyNoMove(life, { from, to, nodeId: nodeOf(life) })
      if (why !== undefined) throw ApplicationFailure.nonRetryable(why, message.moveRefusedFailure)
      const copies = volume !== undefined && patched(copiesVolumes) ? ({ copies: true } as const) : {}
      const moved = { from, to, ...(volume && { volume }), ...copies }
      return answer({ kind: EventKind.Move, ...moved, ...askedBy(asker) })
    },
    { description: 'Move to another host, with the memory if it has one' },
  )
  const hear = (told: HostEvent): void => {
    const event = heardEvent(heardAs, told)
    if (event !== undefined) loop.say(event)
  }
  setHandler(message.hostEventSignal, hear, {
    description: 'What became of a boot, or how busy it is; may be repeated',
  })
}

/** The mark in histories with moves that copy the volume while the instance runs. Earlier moves do not. */
const copiesVolumes = 'move-copies-volume'

/** For people. Undefined: it may move. */
function whyNoMove(
  life: Lifecycle,
  { from, to, nodeId }: Pick<MoveRequest, 'from' | 'to'> & { readonly nodeId: string },
): string | undefined {
  const present = life.move?.to.nodeId
  if (present !== to.nodeId && isMoving(life))
    return `it is moving to host ${present} now; wait until that is over, and ask again`
  if (from.nodeId !== nodeId && present !== to.nodeId) return `it is on host ${nodeId} by now; ask again`
  return life.placing === true ? 'its host is lost, and it gets another one by itself' : undefined
}

function askedBy(asker: Asker | undefined): { readonly asker?: Asker } {
  return asker === undefined ? {} : { asker }
}

const heardAs: HeardAs<HostEvent, LifecycleEvent> = {
  exited: ({ exit }) => ({ kind: EventKind.Exited, exit }),
  started: ({ started }) => ({ kind: EventKind.Started, report: started }),
  idle: ({ boot, epoch, sinceMs }) => ({ kind: EventKind.Idle, boot, epoch, sinceMs }),
  waking: ({ boot, atMs }) => ({ kind: EventKind.Waking, boot, atMs }),
  'wake-failed': ({ boot, failure, message }) => ({ kind: EventKind.WakeFailed, boot, failure, message }),
  disabled: ({ boot, disabled }) => ({ kind: EventKind.Disabled, boot, disabled }),
  lost: ({ boot, atMs }) => ({ kind: EventKind.Lost, boot, atMs }),
  removed: () => ({ kind: EventKind.Removed }),
}
