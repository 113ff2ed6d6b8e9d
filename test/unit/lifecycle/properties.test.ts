import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { ExitCause } from '../../../src/domain/exit-report.ts'
import { decide } from '../../../src/domain/instance-lifecycle.ts'
import { effectsOf, HostWorkKind } from '../../../src/domain/lifecycle-effects.ts'
import { EventKind, Phase, phaseOf, StartOrigin } from '../../../src/domain/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/lifecycle-state.ts'
import { RestartPolicy } from '../../../src/domain/restart-policy.ts'
import { projectionOf } from '../../../src/domain/lifecycle-projection.ts'
import {
  absent,
  connectionsClosed,
  created,
  drainingStop,
  exited,
  forcedStop,
  remove,
  removed,
  start,
  started,
  startFailed,
  stop,
  tick,
} from './life.ts'

/** What happens next, in terms of the boot that the instance is at then; `back` reaches for an older one. */
type Happening = (life: Lifecycle, nowMs: number) => LifecycleEvent

const boots = fc.constantFrom(0, 0, 0, 0, 1, 2)
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
  ...[start, stop, forcedStop, drainingStop(7_000), connectionsClosed, tick, removed].map((event) =>
    fc.constant((): LifecycleEvent => event),
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
const rare: fc.Arbitrary<Happening> = fc.constant((): LifecycleEvent => remove)

const story = fc.record({
  rules: fc.record({
    autostart: fc.boolean(),
    deleteOnStop: fc.boolean(),
    restartPolicy: fc.constantFrom(...Object.values(RestartPolicy)),
  }),
  steps: fc.array(
    fc.record({
      happens: fc.oneof({ weight: 40, arbitrary: happening }, { weight: 1, arbitrary: rare }),
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
  holds('boots are only ever counted up, by one', ({ before, after }) => {
    assert.ok(after.boot === before.boot || after.boot === before.boot + 1)
  })

  holds('the host is asked for one boot, the newest', ({ after }) => {
    const { hostWork } = effectsOf(after)
    if (hostWork === undefined || hostWork.kind === HostWorkKind.Remove) return
    assert.equal(hostWork.boot, after.boot)
  })

  holds(
    'a new boot is asked for only when the one before has ended or failed',
    ({ before, event, after }) => {
      if (after.boot === before.boot) return
      const down = before.state === Phase.Stopped || before.retryAtMs !== undefined
      const ends = event.kind === EventKind.Exited && event.exit.boot === before.boot
      const fails = event.kind === EventKind.StartFailed && event.boot === before.boot
      const neverWas = event.kind === EventKind.Absent && event.boot === before.boot
      assert.ok(down || ends || fails || neverWas)
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
    'only a start, a restart that is due or a halted host brings a stopping or stopped instance up',
    (step) => {
      const { before, event, after } = step
      if (before.state !== Phase.Stopped || after.state === Phase.Stopped) return
      assert.ok(event.kind === EventKind.Start || event.kind === EventKind.Tick)
      if (event.kind === EventKind.Tick) assert.ok(before.restartAtMs !== undefined)
    },
  )

  holds('a deletion is never taken back', ({ before, after }) => {
    if (before.deletion !== undefined) assert.ok(after.deletion !== undefined)
  })

  holds('uptime never shrinks', ({ before, after }) => {
    assert.ok(after.uptimeMs >= before.uptimeMs)
  })

  holds('saying the same twice is saying it once', ({ event, after }) => {
    if (event.kind === EventKind.Tick || event.kind === EventKind.ConnectionsClosed) return
    const again = decide(after, event, 0)
    if (event.kind === EventKind.Stop && event.drainTimeoutMs > 0) return
    if (again.accepted) assert.equal(again.life.revision, after.revision)
  })

  holds(
    'what is not settled has something going on: host work, a deadline or a connection to wait for',
    ({ after }) => {
      const { hostWork, wakeAtMs } = effectsOf(after)
      const phase = phaseOf(after)
      const settled = phase === Phase.Stopped || phase === Phase.Running || phase === Phase.Deleted
      assert.ok(settled || hostWork !== undefined || wakeAtMs !== undefined)
    },
  )
})
