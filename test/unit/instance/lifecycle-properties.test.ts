import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { decide } from '../../../src/domain/instance/lifecycle.ts'
import { effectsOf, HostWorkKind } from '../../../src/domain/instance/lifecycle-effects.ts'
import { EventKind, Phase, phaseOf, StartOrigin } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import { projectionOf } from '../../../src/domain/instance/lifecycle-projection.ts'
import {
  absent,
  connectionsClosed,
  created,
  disabled,
  lost,
  drainingStop,
  exited,
  forcedStop,
  idle,
  onTraffic,
  refused,
  remove,
  removed,
  retiringStop,
  slept,
  start,
  started,
  startFailed,
  stop,
  suspend,
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

const story = fc.record({
  rules: fc.record({
    autostart: fc.boolean(),
    deleteOnStop: fc.boolean(),
    restartPolicy: fc.constantFrom(...Object.values(RestartPolicy)),
    scaleToZero: fc.constantFrom(undefined, onTraffic, { ...onTraffic, stateful: true }),
  }),
  steps: fc.array(
    fc.record({
      happens: fc.oneof(
        { weight: 40, arbitrary: happening },
        { weight: 30, arbitrary: ofHost },
        { weight: 3, arbitrary: rare },
      ),
      afterMs: fc.oneof(fc.nat(3_000), fc.constantFrom(5_000, 10_000, 300_000)),
    }),
    { maxLength: 60 },
  ),
})

interface Step {
  readonly before: Lifecycle
  readonly event: LifecycleEvent
  readonly after: Lifecycle
  readonly accepted: boolean
}

function holds(name: string, rule: (step: Step) => void): void {
  it(name, () => {
    fc.assert(
      fc.property(story, ({ rules, steps }) => {
        let life = created(rules)
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

describe('whatever happens to an instance', () => {
  holds(
    'boot numbers grow; a boot that its host could not wake keeps its number for the next attempt',
    ({ before, event, after }) => {
      if (before.boot === after.boot) return
      const more = after.boot - before.boot
      if (more === -1) assert.ok(after.state === Phase.Standby && before.state === Phase.Starting)
      // The host began the boot of its permit, that boot ended, and its end was followed by a new boot.
      else if (more === 2) assert.ok(event.kind === EventKind.Exited && event.exit.boot === before.permit)
      else assert.equal(more, 1)
    },
  )

  holds('a failure has the kind that its host reported, never that of an older one', ({ event, after }) => {
    if (after.failure === undefined) assert.equal(after.failureKind, undefined)
    const told = event.kind === EventKind.StartFailed || event.kind === EventKind.WakeFailed
    if (told && after.failure === event.message) assert.equal(after.failureKind, event.failure)
  })

  holds('a boot that came up is never asked to start again', ({ before, after }) => {
    const { hostWork } = effectsOf(after)
    const ran = before.state === Phase.Running ? before.boot : before.report?.boot
    // The exception is a drain that is taken back: the same boot is then asked for again.
    if (after.reopen === true) return
    if (hostWork?.kind === HostWorkKind.Start && ran !== undefined) assert.ok(hostWork.boot > ran)
  })

  holds('in standby there is one permit, for the boot that follows', ({ after }) => {
    if (after.state !== Phase.Standby) return
    assert.equal(after.permit, after.boot + 1)
    assert.equal(after.sleep?.boot, after.boot)
  })

  holds(
    'only an instance that runs or is already in standby is sent there, and never one that speaks against it',
    (step) => {
      const { before, after } = step
      if (effectsOf(after).hostWork?.kind !== HostWorkKind.StandBy) return
      assert.ok(phaseOf(after) === Phase.Running || phaseOf(after) === Phase.Standby)
      if (before.order === undefined && after.state === Phase.Running)
        assert.notEqual(after.disabledBoot, after.boot)
    },
  )

  holds('while the host may start a boot by itself, a stop is for that boot', ({ before, after }) => {
    const { hostWork } = effectsOf(after)
    if (hostWork?.kind !== HostWorkKind.Stop || before.permit === undefined) return
    assert.ok(hostWork.boot >= before.permit)
  })

  holds('the host is asked for one boot, the newest', ({ after }) => {
    const { hostWork } = effectsOf(after)
    if (hostWork === undefined || !('boot' in hostWork)) return
    assert.equal(hostWork.boot, after.boot)
  })

  holds(
    'a new boot is asked for only when the one before has ended or failed',
    ({ before, event, after }) => {
      if (after.boot === before.boot) return
      const down = before.state === Phase.Stopped || before.retryAtMs !== undefined
      const ends = event.kind === EventKind.Exited && event.exit.boot === before.boot
      const fails = event.kind === EventKind.StartFailed && event.boot === before.boot
      const { permit } = before
      const isByHost = 'boot' in event && event.boot === permit && permit !== undefined
      const isReport = event.kind === EventKind.Started && event.report.boot === permit
      const isEnd = event.kind === EventKind.Exited && event.exit.boot === permit
      if (isByHost || isReport || isEnd) return
      // A stop uses up the permit's boot, and the host is asked to stop that boot.
      if (event.kind === EventKind.Stop && after.boot === permit) return
      if (before.state === Phase.Standby || (before.state === Phase.Starting && before.sleep !== undefined))
        return
      const neverWas = event.kind === EventKind.Absent && event.boot === before.boot
      const isLost = event.kind === EventKind.Lost && event.boot === before.boot
      assert.ok(down || ends || fails || neverWas || (isLost && before.state === Phase.Running))
    },
  )

  holds('the revision grows exactly when readers would see a difference', ({ before, after }) => {
    const differs = JSON.stringify(projectionOf(before)) !== JSON.stringify(projectionOf(after))
    assert.equal(after.revision, before.revision + (differs ? 1 : 0))
  })

  holds(
    'restart_count grows only with a start by the policy, and never without a policy',
    ({ before, after }) => {
      if (after.restartCount === before.restartCount) return
      assert.equal(after.restartCount, before.restartCount + 1)
      assert.equal(after.startOrigin, StartOrigin.Policy)
      assert.notEqual(after.restartPolicy, RestartPolicy.Never)
    },
  )

  holds('there are never more restarts than starts, nor a longer sequence than restarts', ({ after }) => {
    assert.ok(after.restartCount <= after.startCount)
    assert.ok(after.restartAttempt <= after.restartCount)
  })

  holds(
    'a stop by hand ends the sequence and leaves nothing waiting to start',
    ({ event, after, accepted }) => {
      if (event.kind !== EventKind.Stop || !accepted) return
      assert.equal(after.restartAttempt, 0)
      assert.equal(after.restartAtMs, undefined)
      assert.notEqual(after.startAgain, true)
      assert.ok(!([Phase.Running, Phase.Starting] as Phase[]).includes(phaseOf(after)))
    },
  )

  holds(
    'only a start, a restart that is due, or its host with the permit that it was given brings a stopped instance up',
    (step) => {
      const { before, event, after } = step
      if (before.state !== Phase.Stopped || after.state === Phase.Stopped) return
      if (before.permit !== undefined && after.boot === before.permit) return
      assert.ok(event.kind === EventKind.Start || event.kind === EventKind.Tick)
      if (event.kind === EventKind.Tick) assert.ok(before.restartAtMs !== undefined)
    },
  )

  holds('a deletion is never taken back', ({ before, after }) => {
    if (before.deletion !== undefined) assert.ok(after.deletion !== undefined)
  })

  holds('a retired instance accepts no start, and only drains, stops and is deleted', (step) => {
    const { before, event, after, accepted } = step
    if (before.retired !== true) return
    assert.equal(after.retired, true)
    if (event.kind === EventKind.Start) assert.equal(accepted, false)
    const ends: readonly Phase[] = [Phase.Draining, Phase.Stopping, Phase.Deleting, Phase.Deleted]
    assert.ok(ends.includes(phaseOf(after)), phaseOf(after))
  })

  holds('a retired instance is deleted once its host has stopped and removed it', ({ after, event }) => {
    if (event.kind !== EventKind.Stop || event.thenDelete !== true) return
    let life = after
    for (const word of [connectionsClosed, absent, removed]) {
      const decision = decide(life, typeof word === 'function' ? word(life.boot) : word, 0)
      if (decision.accepted) ({ life } = decision)
    }
    assert.equal(phaseOf(life), Phase.Deleted)
  })

  holds('uptime never shrinks', ({ before, after }) => {
    assert.ok(after.uptimeMs >= before.uptimeMs)
  })

  holds('an event that comes twice has the effect of one', ({ event, after }) => {
    if (event.kind === EventKind.Tick || event.kind === EventKind.ConnectionsClosed) return
    const again = decide(after, event, 0)
    if (event.kind === EventKind.Stop && event.drainTimeoutMs > 0) return
    if (again.accepted) assert.equal(again.life.revision, after.revision)
  })

  holds(
    'unless it is stopped, running, in standby or deleted, there is host work or a deadline to wait for',
    ({ after }) => {
      const { hostWork, wakeAtMs } = effectsOf(after)
      const phase = phaseOf(after)
      const settled =
        phase === Phase.Stopped ||
        phase === Phase.Running ||
        phase === Phase.Deleted ||
        phase === Phase.Standby
      assert.ok(settled || hostWork !== undefined || wakeAtMs !== undefined)
    },
  )
})
