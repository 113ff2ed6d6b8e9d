import { strict as assert } from 'node:assert'
import { AskerKind } from '../../../src/domain/event/asker.ts'
import type { News } from '../../../src/domain/event/news.ts'
import { UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { decide } from '../../../src/domain/instance/lifecycle.ts'
import { EventKind } from '../../../src/domain/instance/lifecycle-state.ts'
import type { Lifecycle, LifecycleEvent } from '../../../src/domain/instance/lifecycle-state.ts'
import { newsOf } from '../../../src/domain/instance/news.ts'
import { RestartPolicy } from '../../../src/domain/instance/restart-policy.ts'
import {
  after,
  connectionsClosed,
  created,
  exited,
  idle,
  onTraffic,
  slept,
  start,
  started,
  startFailed,
  stop,
  tick,
  wakeFailed,
  waking,
} from './lifecycle-life.ts'

type Steps = readonly (readonly [number, LifecycleEvent])[]

/** What is told of a life while these events come, each at its time. */
function newsDuring(life: Lifecycle, ...steps: Steps): readonly News[] {
  const told: News[] = []
  let now = life
  for (const [atMs, event] of steps) {
    const decision = decide(now, event, atMs)
    assert.ok(decision.accepted, `${event.kind} was refused`)
    told.push(...newsOf(now, event, decision.life))
    now = decision.life
  }
  return told
}

/** Each news as `from to by: why`. */
function sentences(...of: Parameters<typeof newsDuring>): readonly string[] {
  return newsDuring(...of).map(({ from, to, asker, why }) => `${from} ${to} ${asker.by}: ${why}`)
}

const token = { by: AskerKind.Token, name: 'ci', requestId: 'r1' } as const
const always = { autostart: true, restartPolicy: RestartPolicy.Always } as const
const crash = { exitCode: 1 }

describe('the news of an instance', () => {
  it('tell a start and a stop with who asked for them', () => {
    const byToken = { ...start, asker: token } as LifecycleEvent
    const told = newsDuring(
      created(),
      [100, byToken],
      [200, started(1, 200)],
      [300, { ...stop, asker: { ...token, requestId: 'r2' } } as LifecycleEvent],
      [400, exited(1, 400, { exitCode: 0 })],
    )
    assert.deepEqual(
      told.map(({ from, to }) => [from, to]),
      [
        ['stopped', 'starting'],
        ['starting', 'running'],
        ['running', 'stopping'],
        ['stopping', 'stopped'],
      ],
    )
    assert.deepEqual(
      told.map(({ asker }) => asker.requestId),
      ['r1', 'r1', 'r2', 'r2'],
    )
    assert.equal(told[3]!.why, 'its application ended with exit code 0')
    assert.deepEqual(told[3]!.facts, { boot: 1, stop_reason: 15, exit_code: 0, stop_code: 32_768 })
  })

  it('tell a restart with the end before it, and when the next one is due', () => {
    const crashed = [
      [100, started(1, 100)],
      [200, exited(1, 200, crash)],
      [300, started(2, 300)],
      [400, exited(2, 400, crash)],
      [5_400, tick],
    ] as const
    assert.deepEqual(sentences(created(always), ...crashed), [
      'starting running token: its application has begun',
      'running starting policy: its application ended with exit code 1; its restart policy starts it again (restart 1 in a row)',
      'starting running policy: its application has begun',
      'running stopped host: its application ended with exit code 1; its restart policy starts it again at ' +
        '1970-01-01T00:00:05.400Z',
      'stopped starting policy: its restart policy starts it again (restart 2 in a row)',
    ])
  })

  it('tell a boot that ends while it starts, though the state stays the same', () => {
    const [first] = newsDuring(created(always), [150, exited(1, 150, { cause: ExitCause.KernelPanic })])
    assert.deepEqual([first?.from, first?.to], ['starting', 'starting'])
    assert.match(first!.why, /^its guest's kernel panicked; its restart policy starts it again /)
  })

  it('tell sleep and wake with their reasons', () => {
    const snapshot = '22222222-2222-4222-8222-222222222222'
    const told = sentences(
      created({ autostart: true, scaleToZero: { ...onTraffic, stateful: true } }),
      [100, started(1, 100)],
      [1_200, idle(1, 100)],
      [1_300, slept(1, 1_300, snapshot)],
      [2_000, waking(2, 2_000)],
      [2_100, started(2, 2_100)],
    )
    assert.deepEqual(told, [
      'starting running token: its application has begun',
      `running standby policy: nothing asked for it for 1 s; its memory is kept in snapshot ${snapshot}`,
      'standby starting traffic: something asked for it',
      'starting running traffic: its application has begun',
    ])
  })

  it('tell a wake that failed, though the instance sleeps on', () => {
    const asleep = created({ autostart: true, scaleToZero: onTraffic })
    const told = newsDuring(
      asleep,
      [100, started(1, 100)],
      [1_200, idle(1, 100)],
      [1_300, slept(1, 1_300)],
      [2_000, wakeFailed(2)],
    )
    const last = told.at(-1)!
    assert.match(last.why, /could not be woken: no wake/)
    assert.equal(last.to, 'standby')
  })

  it('tell that a start could not be made, and when it is tried again', () => {
    const [retried] = newsDuring(created(always), [100, startFailed(1, undefined)])
    assert.equal(retried?.kind, UserEventKind.InstanceFailure)
    assert.match(retried.why, /^it could not be started: no: something; it is tried again at 1970-/)
    const [given] = newsDuring(created({ autostart: true }), [100, startFailed(1, 'ImageUnusable')])
    assert.deepEqual([given?.kind, given?.to], [UserEventKind.InstanceState, 'stopped'])
    assert.match(given!.why, /^it could not be started: no: ImageUnusable/)
  })

  it('tell draining, its end, and a start that takes it back', () => {
    const draining: LifecycleEvent = {
      kind: EventKind.Stop,
      force: false,
      drainTimeoutMs: 10_000,
      asker: token,
    }
    const running: Steps = [[100, started(1, 100)]]
    const one = sentences(created(always), ...running, [200, draining], [300, connectionsClosed])
    assert.deepEqual(one.slice(1), [
      'running draining token: it is to stop, and what is connected may end until 1970-01-01T00:00:10.200Z',
      'draining stopping token: it has drained',
    ])
    const other = sentences(created(always), ...running, [200, draining], [300, start])
    assert.equal(other.at(-1), 'draining running token: a start took its stop back')
  })

  it('tell nothing of what readers do not see', () => {
    const life = created(always)
    assert.deepEqual(newsDuring(life, [100, tick]), [])
    assert.deepEqual(newsOf(life, start, life), [])
    const unseen = { ...after(life, [100, started(1, 100)]), revision: life.revision }
    assert.deepEqual(newsOf(life, started(1, 100), unseen), [])
  })
})
