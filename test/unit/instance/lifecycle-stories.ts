import fc from 'fast-check'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { decide } from '../../../src/domain/instance/lifecycle.ts'
import { MoveStep } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import {
  absent,
  after,
  connectionsClosed,
  copied,
  copyTo,
  created,
  disabled,
  lost,
  drainingStop,
  exited,
  fetched,
  forcedStop,
  held,
  hostLost,
  idle,
  moved,
  moveFailed,
  moveTo,
  movedVolume,
  onTraffic,
  placed,
  refused,
  released,
  remove,
  removed,
  retiringStop,
  slept,
  start,
  started,
  startFailed,
  stop,
  suspend,
  taken,
  tick,
  wakeFailed,
  waking,
} from './lifecycle-life.ts'

/**
 * Makes the next event for the life as it then is. Most events name a boot, which is `back` boots before the
 * present boot: 0 is the present boot, 1 and 2 are older ones, -1 is the next one.
 */
type Happening = (life: Lifecycle, nowMs: number) => LifecycleEvent

const boots = fc.constantFrom(0, 0, 0, 0, 1, 2, -1)
/** The numbers for an answer to the order to stand by. Without an order, they are those of a past one. */
const ordered = (life: Lifecycle) => life.order ?? { boot: life.boot - 1, epoch: 0, permit: life.boot }
const ends = fc.constantFrom(
  { exitCode: 0 },
  { exitCode: 3 },
  { signal: 11 },
  { cause: ExitCause.KernelPanic },
  { cause: ExitCause.VmmLost },
  { cause: ExitCause.HostHalted, exitCode: 0 },
  { cause: ExitCause.Forced },
)
const failures = fc.constantFrom('HostFull' as const, 'ImageUnusable' as const, undefined)

const happening: fc.Arbitrary<Happening> = fc.oneof(
  ...[start, stop, suspend(500), forcedStop, drainingStop(7_000), connectionsClosed, tick, removed].map(
    (event) => fc.constant((): LifecycleEvent => event),
  ),
  boots.map(
    (back): Happening =>
      (life, nowMs) =>
        started(life.boot - back, nowMs),
  ),
  fc.tuple(boots, ends).map(
    ([back, end]): Happening =>
      (life, nowMs) =>
        exited(life.boot - back, nowMs, end),
  ),
  fc.tuple(boots, failures).map(
    ([back, failure]): Happening =>
      (life) =>
        startFailed(life.boot - back, failure),
  ),
  boots.map(
    (back): Happening =>
      (life) =>
        absent(life.boot - back),
  ),
)
const ofHost: fc.Arbitrary<Happening> = fc.oneof(
  ...[
    (boot: number, nowMs: number) => idle(boot, nowMs - 500, nowMs),
    (boot: number, nowMs: number) => waking(boot, nowMs),
    (boot: number) => wakeFailed(boot),
    (boot: number) => disabled(boot, boot % 2 === 0),
    (boot: number) => lost(boot),
  ].map((event) =>
    boots.map(
      (back): Happening =>
        (life, nowMs) =>
          event(life.boot - back, nowMs),
    ),
  ),
  fc.boolean().map((kept): Happening => (life, nowMs) => {
    const { boot, permit } = ordered(life)
    return { ...slept(boot, nowMs, kept ? 'snapshot' : undefined), permit } as LifecycleEvent
  }),
  fc.constant((life: Lifecycle): LifecycleEvent => refused(ordered(life).boot, ordered(life).epoch)),
)
const rare: fc.Arbitrary<Happening> = fc
  .constantFrom(remove, retiringStop(7_000), retiringStop(0))
  .map((event) => (): LifecycleEvent => event)
/** The host that the instance has is lost, for the first time or once more; or it gets another one. */
const ofPlace: fc.Arbitrary<Happening> = fc.oneof(
  fc.tuple(fc.boolean(), fc.nat(3)).map(
    ([stays, loss]): Happening =>
      ({ nodeId = 'h1' }) =>
        hostLost(stays, loss, nodeId),
  ),
  fc.constantFrom('h2', 'h3').map(
    (nodeId): Happening =>
      () =>
        placed(nodeId),
  ),
)

/** A move is asked for, or the step that is under way gets its answer. */
const ofMove: fc.Arbitrary<Happening> = fc.oneof(
  fc.tuple(fc.constantFrom('h1', 'h2', 'h3'), fc.constantFrom('none', 'kept', 'copied')).map(
    ([nodeId, volume]): Happening =>
      () =>
        volume === 'copied' ? copyTo(nodeId) : moveTo(nodeId, volume === 'kept' ? movedVolume : undefined),
  ),
  fc.constant(({ offer }: Lifecycle): LifecycleEvent => released(offer?.atMs ?? 0)),
  fc.constantFrom(true, true, true, false).map(
    (isDone): Happening =>
      (life) =>
        answerTo(life, isDone),
  ),
)

/** The answer to the step of the move that is under way. Without a move it is that of a past one. */
export function answerTo({ move, boot }: Lifecycle, isDone: boolean): LifecycleEvent {
  const atMs = move?.atMs ?? 0
  if (move?.step === MoveStep.Copy) return copied(atMs, boot, isDone ? undefined : 'no way')
  if (move?.step === MoveStep.Row && isDone) return moved(move.to.nodeId)
  if (move?.step === MoveStep.Release) return released(atMs)
  if (move?.step === MoveStep.Take) return taken(atMs)
  if (!isDone) return moveFailed(atMs)
  return move?.step === MoveStep.Hold
    ? held(atMs)
    : fetched(atMs, atMs % 2 === 0 ? 'it does not fit' : undefined)
}

const copying = (rules: Parameters<typeof created>[0]): Lifecycle =>
  after(created(rules), [0, start], [0, started(1, 0)], [0, copyTo()])

const story = fc.record({
  rules: fc.record({
    autostart: fc.boolean(),
    deleteOnStop: fc.boolean(),
    restartPolicy: fc.constantFrom(...Object.values(RestartPolicy)),
    scaleToZero: fc.constantFrom(undefined, onTraffic, { ...onTraffic, stateful: true }),
  }),
  /** Whether the story begins with an instance that runs and whose volume is copied. */
  isCopied: fc.constantFrom(false, false, false, true),
  steps: fc.array(
    fc.record({
      happens: fc.oneof(
        { weight: 40, arbitrary: happening },
        { weight: 30, arbitrary: ofHost },
        { weight: 3, arbitrary: rare },
        { weight: 8, arbitrary: ofPlace },
        { weight: 20, arbitrary: ofMove },
      ),
      afterMs: fc.oneof(fc.nat(3_000), fc.constantFrom(5_000, 10_000, 300_000)),
    }),
    { maxLength: 60 },
  ),
})

export interface Step {
  readonly before: Lifecycle
  readonly event: LifecycleEvent
  readonly after: Lifecycle
  readonly accepted: boolean
}

export function holds(name: string, rule: (step: Step) => void): void {
  it(name, () => {
    fc.assert(
      fc.property(story, ({ rules, isCopied, steps }) => {
        let life = isCopied ? copying(rules) : created(rules)
        let nowMs = 0
        for (const { happens, afterMs } of steps) {
          nowMs += afterMs
          const event = happens(life, nowMs)
          const decision = decide(life, event, nowMs)
          const next = decision.accepted ? decision.life : life
          rule({ before: life, event, after: next, accepted: decision.accepted })
          life = next
        }
      }),
      { numRuns: 1_000 },
    )
  })
}
