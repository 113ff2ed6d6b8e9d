import assert from 'node:assert/strict'
import { LeasePhase } from '../../../src/domain/standby/host-lease-phase.ts'
import { explain } from '../../../src/domain/instance/explanation.ts'
import type { ExplainedInstance } from '../../../src/domain/instance/explanation.ts'
import { InstanceState, instanceStates } from '../../../src/domain/instance/state.ts'
import { lostMemory } from '../../../src/domain/instance/lifecycle-standby.ts'
import { noScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import type { HostLeaseView } from '../../../src/domain/standby/lease-protocol.ts'

const nowMs = Date.parse('2030-01-01T10:00:00Z')
const ago = (seconds: number): number => nowMs - seconds * 1_000
const sleeper: ExplainedInstance = {
  name: 'web',
  nodeId: 'local',
  state: InstanceState.Running,
  boot: 3,
  scaleToZero: { policy: 'on', cooldownMs: 2_000, stateful: false },
  startedAtMs: ago(60),
}
const calm: HostLeaseView = {
  phase: LeasePhase.Running,
  boot: 3,
  awake: true,
  leases: 0,
  connections: 0,
  requests: 0,
  queued: 0,
  disabled: false,
}
const asleep = { ...sleeper, state: InstanceState.Standby, stoppedAtMs: ago(30) }
const since = '2030-01-01T09:59:00.000Z'
const snapshot = '00000000-0000-4000-8000-000000000001'

interface Case {
  readonly title: string
  readonly instance?: Partial<ExplainedInstance>
  readonly hostLease: Partial<HostLeaseView> | undefined
  readonly now: string | RegExp
  readonly next: RegExp
}

const cases: readonly Case[] = [
  {
    title: 'stalled by a full disk, whatever else is true of it',
    hostLease: { leases: 1, requests: 1, stalledSinceMs: ago(60) },
    now: `web stands still since ${since}, because the disk of host local has no room for what it writes to its volume.`,
    next: /^it goes on by itself as soon as there is room, and nothing is lost$/,
  },
  {
    title: 'awake without traffic, because the disk has no room for its memory',
    hostLease: { idleSinceMs: ago(1), noRoom: { atMs: ago(60), neededMb: 136, leftMb: 20 } },
    now: `web is awake since ${since}, because the disk of host local has no room for its memory: at ${since} it needed 136 MB, and 20 MB were left.`,
    next: /^standby is tried again about every minute .* deleted make room, .* not stateful needs none$/,
  },
  {
    title: 'awake for traffic, whatever room there was when it was last to stand by',
    hostLease: { leases: 1, requests: 1, noRoom: { atMs: ago(60), neededMb: 136, leftMb: 20 } },
    now: /because of traffic/,
    next: /^standby 2 s after/,
  },
  {
    title: 'draining, with the time at which that is over at the latest',
    instance: { state: InstanceState.Draining, drainUntilMs: nowMs },
    hostLease: { phase: LeasePhase.Draining, requests: 1 },
    now: 'web is draining, as asked: nothing new gets there, and 1 request is there.',
    next: /, at the latest at 2030-01-01T10:00:00\.000Z$/,
  },
  {
    title: 'draining, because it is given back',
    instance: { state: InstanceState.Draining, drainUntilMs: nowMs, isRetired: true },
    hostLease: { phase: LeasePhase.Draining, requests: 1 },
    now: 'web is draining, as asked: nothing new gets there, and 1 request is there.',
    next: /at the latest at 2030-01-01T10:00:00\.000Z; then it is deleted, because it was given back$/,
  },
  {
    title: 'given back, and not told of it yet',
    instance: { isRetired: true },
    hostLease: { leases: 1, requests: 1 },
    now: /^web is awake since/,
    next: /^it is shut down; then it is deleted, because it was given back$/,
  },
  {
    title: 'stopped, and kept by a rollout',
    instance: { state: InstanceState.Stopped, stopReason: 15, isWayBack: true },
    hostLease: { phase: LeasePhase.None },
    now: /^web is stopped/,
    next: /^a rollout keeps it as the way back: /,
  },
  {
    title: 'awake without a policy',
    instance: { scaleToZero: noScaleToZero },
    hostLease: { leases: 1, requests: 1 },
    now: `web is awake since ${since}, and has no scale-to-zero policy.`,
    next: /until it is stopped/,
  },
  {
    title: 'awake with traffic',
    hostLease: { leases: 2, requests: 1, connections: 3 },
    now: `web is awake since ${since}, because of traffic: 1 request is, 3 connections are there.`,
    next: /^standby 2 s after the last of it$/,
  },
  {
    title: 'awake by itself, whatever traffic there is',
    hostLease: { disabled: true, leases: 1, requests: 1 },
    now: `web is awake since ${since}, because it wants to: its scale_to_zero_disable count is above 0.`,
    next: /until that count is 0/,
  },
  {
    title: 'idle, with the time of its standby',
    hostLease: { idleSinceMs: ago(1) },
    now: 'web is awake, and nothing has asked for it since 2030-01-01T09:59:59.000Z.',
    next: /^standby at 2030-01-01T10:00:01.000Z, unless/,
  },
  {
    title: 'idle beyond its cooldown',
    hostLease: { idleSinceMs: ago(9) },
    now: /nothing has asked for it/,
    next: /^standby at any moment/,
  },
  {
    title: 'idle, and held back because its user has had its share of standby',
    hostLease: { idleSinceMs: ago(9), heldBack: true },
    now: /although nothing has asked for it since 2030-01-01T09:59:51.000Z: instances of its user fell asleep on host \S+ as often as they may/,
    next: /^standby when it is its turn/,
  },
  {
    title: 'asleep without memory, by the word of the host alone too',
    instance: { state: InstanceState.Running },
    hostLease: { phase: LeasePhase.Asleep, permit: 4 },
    now: 'web is asleep, because nothing asked for it for 2 s; it was shut down.',
    next: /wakes it/,
  },
  {
    title: 'asleep with memory',
    instance: { ...asleep, snapshotUuid: snapshot },
    hostLease: { phase: LeasePhase.Asleep, permit: 4 },
    now: `web is asleep since 2030-01-01T09:59:30.000Z, because nothing asked for it for 2 s; its memory is kept in snapshot ${snapshot}.`,
    next: /wakes it/,
  },
  {
    title: 'asleep, and its memory was lost with its host',
    instance: { ...asleep, failure: lostMemory },
    hostLease: { phase: LeasePhase.Asleep, permit: 4 },
    now: /, because nothing asked for it for 2 s; its host lost the memory that it had kept: the next wake starts the application anew\.$/,
    next: /wakes it/,
  },
  {
    title: 'asleep because no wake succeeds',
    instance: asleep,
    hostLease: { phase: LeasePhase.Asleep, permit: 4, wakeFailure: { message: 'no', retryAtMs: ago(-5) } },
    now: 'web is asleep, because it could not be woken.',
    next: /refused until 2030-01-01T10:00:05.000Z/,
  },
  {
    title: 'asleep from its creation',
    instance: { ...asleep, boot: 0 },
    hostLease: { phase: LeasePhase.Asleep, boot: 0, permit: 1 },
    now: /from its creation/,
    next: /wakes it/,
  },
  {
    title: 'held, because it moves',
    instance: asleep,
    hostLease: { phase: LeasePhase.Held, awake: false, permit: 4 },
    now: 'web is asleep and held, because it moves between hosts.',
    next: /nothing wakes it before/,
  },
  {
    title: 'stopped with a restart to come',
    instance: {
      state: InstanceState.Stopped,
      stoppedAtMs: ago(30),
      restartAtMs: ago(-10),
      stopReason: 3,
      exitCode: 1,
    },
    hostLease: { phase: LeasePhase.None, awake: false },
    now: 'web is stopped since 2030-01-01T09:59:30.000Z, with stop reason 3 and exit code 1.',
    next: /at 2030-01-01T10:00:10.000Z$/,
  },
  {
    title: 'awake on a host that is away',
    hostLease: undefined,
    now: /why, only host local knows, which does not answer/,
    next: /not known/,
  },
  {
    title: 'starting on a host that is silent',
    instance: { state: InstanceState.Starting, hostSilentSinceMs: ago(120) },
    hostLease: undefined,
    now: 'web is starting on host local; its host local has been silent since 2030-01-01T09:58:00.000Z.',
    next: /^nothing before the host is heard again; then it runs as soon as its application is entered$/,
  },
  {
    title: 'recorded as awake, and its host is silent',
    instance: { hostSilentSinceMs: ago(120) },
    hostLease: undefined,
    now: `web is recorded as awake since ${since}; its host local has been silent since 2030-01-01T09:58:00.000Z.`,
    next: /^nothing before the host is heard again; then the host says what became of it$/,
  },
  {
    title: 'stopped, for which the silence of its host is no reason',
    instance: { state: InstanceState.Stopped, boot: 0, hostSilentSinceMs: ago(120) },
    hostLease: undefined,
    now: 'web is stopped, because nobody started it yet.',
    next: /^nothing, until it is started/,
  },
  {
    title: 'recorded as awake, and its host is lost',
    instance: { hostSilentSinceMs: ago(120), hostLostSinceMs: ago(60) },
    hostLease: undefined,
    now: `web is recorded as awake since ${since}; its host local has been lost since 2030-01-01T09:59:00.000Z.`,
    next: /^it begins on another host as soon as one has room$/,
  },
  {
    title: 'its host is lost, and its volume is there',
    instance: { hostSilentSinceMs: ago(120), hostLostSinceMs: ago(60), hasVolume: true },
    hostLease: undefined,
    now: /; its host local has been lost since 2030-01-01T09:59:00\.000Z\.$/,
    next: /^its volume data is there, so it waits for local; once the host is heard again, the host says /,
  },
  {
    title: 'stopped on a lost host',
    instance: { state: InstanceState.Stopped, boot: 0, hostLostSinceMs: ago(60) },
    hostLease: undefined,
    now: /; its host local has been lost since/,
    next: /^it gets another host as soon as one has room; then nothing, until it is started/,
  },
]

describe('why an instance is awake or asleep', () => {
  for (const { title, instance, hostLease, now, next } of cases) {
    it(`is said in a sentence: ${title}`, () => {
      const host = hostLease === undefined ? undefined : { ...calm, ...hostLease }
      const said = explain({ ...sleeper, ...instance }, host, nowMs)
      if (typeof now === 'string') assert.equal(said.now, now)
      else assert.match(said.now, now)
      assert.match(said.next, next)
    })
  }

  it('is said for every combination of what the host and the row say, even if one of them is older', () => {
    for (const phase of [undefined, ...Object.values(LeasePhase)]) {
      for (const state of instanceStates) {
        const said = explain({ ...sleeper, state }, phase && { ...calm, phase }, nowMs)
        assert.match(said.now, /^web is [^.]+(\.\d{3}Z[^.]*)*\.$/)
        assert.notEqual(said.next, '')
      }
    }
  })

  it('is what the row says if a host of another version names a phase that is unknown here', () => {
    const elsewhere = { ...calm, phase: 'dreaming' as LeasePhase }
    assert.match(explain(asleep, elsewhere, nowMs).now, /^web is asleep since/)
  })

  it('names what waits for a restart', () => {
    const changed = { ...sleeper, waiting: ['env', 'memory_mb'] }
    assert.match(
      explain(changed, calm, nowMs).now,
      /; it lacks a change of env, memory_mb, which waits for a restart\.$/,
    )
  })

  it('names what failed last', () => {
    const failing = {
      phase: LeasePhase.Asleep,
      wakeFailure: { message: 'the host is full', retryAtMs: nowMs },
    }
    assert.equal(explain(asleep, { ...calm, ...failing }, nowMs).failure, 'the host is full')
    const stopped = { ...sleeper, state: InstanceState.Stopped, failure: 'the image is gone' }
    assert.equal(explain(stopped, undefined, nowMs).failure, 'the image is gone')
  })
})
