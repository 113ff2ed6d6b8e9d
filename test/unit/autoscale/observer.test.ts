import assert from 'node:assert/strict'
import { longestSilenceMs } from '../../../activities/autoscale/observed-host.ts'
import {
  answerLimitMs,
  longestRoundsPerView,
  roundsPerView,
  viewsPerRound,
} from '../../../activities/autoscale/service-observer.ts'
import { observationIntervalMs } from '../../../src/domain/autoscale/looks.ts'
import { scaleInSettleMs } from '../../../src/domain/autoscale/shrinking.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { ObservedWorld } from '../../support/observed-world.ts'

describe('the observer of autoscaled services', () => {
  let world: ObservedWorld
  beforeEach(() => {
    world = new ObservedWorld()
  })

  it('looks every second, and finds nothing to do for a service that has the right size', async () => {
    world.add('a')
    const a = world.watch('a', { target: 1 })
    await world.clock.pass(10 * observationIntervalMs)
    assert.equal(a.result, undefined)
    assert.equal(world.queries, 11)
    const { loads, metrics, rest, size, target } = a.views.at(-1) ?? {}
    assert.deepEqual([size, target, rest?.kind], [1, 1, 'right-size'])
    assert.equal(Math.round(metrics?.cpu ?? 0), 300)
    assert.equal(Math.round(loads?.['a-0']?.cpu ?? 0), 300)
  })

  it('decides on a higher load within four looks of its beginning', async () => {
    world.add('a')
    const a = world.watch('a', { target: 1 })
    await world.clock.pass(5_500)
    world.host('one').uses('a-0', 900)
    await world.clock.pass(3_500)
    assert.partialDeepStrictEqual(a.result, { kind: 'resize', target: 2 })
    assert.deepEqual(world.decided, ['resize'])
  })

  it('does not take a load that is unknown at the first look for a load of 0', async () => {
    world.add('a')
    world.host('one').uses('a-0', 900)
    const a = world.watch('a', { target: 1 })
    await world.clock.pass(0)
    assert.deepEqual(a.views.at(-1)?.rest, { kind: 'observing', looks: 0 })
    await world.clock.pass(3_000)
    assert.partialDeepStrictEqual(a.result, { kind: 'resize', decision: { counted: 1 } })
    assert.equal(a.result?.kind === 'resize' && Math.round(a.result.decision.value), 900)
  })

  it('gives back when the load has been low for the settle time', async () => {
    world.add('a', { hosts: ['one', 'two'] })
    const a = world.watch('a', { target: 2 })
    for (const uuid of ['a-0', 'a-1']) for (const host of ['one', 'two']) world.host(host).uses(uuid, 10)
    await world.clock.pass(scaleInSettleMs)
    assert.equal(a.result, undefined)
    await world.clock.pass(4_000)
    assert.partialDeepStrictEqual(a.result, { kind: 'resize', target: 1 })
  })

  it('reports that a service is closing if its configuration is gone', async () => {
    world.add('a')
    const a = world.watch('a')
    await world.clock.pass(2_000)
    world.services.delete('a')
    await world.clock.pass(1_000)
    assert.deepEqual(a.result, { kind: 'closing' })
    const nobody = world.watch('nobody')
    await world.clock.pass(1_000)
    assert.deepEqual(nobody.result, { kind: 'closing' })
  })

  it('takes the present size as the target if no size was decided on yet', async () => {
    world.add('a', { hosts: ['one', 'two'] })
    const a = world.watch('a')
    await world.clock.pass(5_000)
    assert.deepEqual([a.result, a.views.at(-1)?.target], [undefined, 2])
    world.change('a', ([master]) => (master === undefined ? [] : [master]))
    await world.clock.pass(1_000)
    assert.deepEqual(a.result, { kind: 'align', target: 2, size: 1 })
  })

  it('asks each host once per round for all instances that run there, and for no others', async () => {
    world.add('a', { hosts: ['one', 'two', 'two'] })
    world.add('b', { hosts: ['two'] })
    world.change('a', ([first, ...others]) => [
      ...(first === undefined ? [] : [{ ...first, state: InstanceState.Standby }]),
      ...others,
    ])
    world.watch('a')
    world.watch('b')
    await world.clock.pass(0)
    assert.deepEqual(world.host('one').asked, [])
    assert.deepEqual(world.host('two').asked, [['a-1', 'a-2', 'b-0']])
  })

  describe('where a host is silent', () => {
    it('gives nothing back, and names the instances whose load is unknown', async () => {
      world.add('a', { hosts: ['one', 'two'] })
      const a = world.watch('a', { target: 2 })
      for (const uuid of ['a-0', 'a-1']) for (const host of ['one', 'two']) world.host(host).uses(uuid, 10)
      await world.clock.pass(3_500)
      world.host('two').fails = true
      await world.clock.pass(60_000)
      assert.equal(a.result, undefined)
      assert.deepEqual(a.views.at(-1)?.rest, { kind: 'load-unknown', names: ['a-1'] })
      assert.deepEqual(Object.keys(a.views.at(-1)?.loads ?? {}), ['a-0'])
      assert.equal(world.rounds.at(-1)?.unknown, 1)
      world.host('two').fails = false
      await world.clock.pass(scaleInSettleMs + 6_000)
      assert.partialDeepStrictEqual(a.result, { kind: 'resize', target: 1 })
    })

    it('adds an instance if the load of the others alone requires that', async () => {
      world.add('a', { hosts: ['one', 'two'] })
      const a = world.watch('a', { target: 2 })
      world.host('two').fails = true
      await world.clock.pass(10_000)
      world.host('one').uses('a-0', 1_100)
      await world.clock.pass(5_000)
      assert.partialDeepStrictEqual(a.result, { kind: 'resize', target: 3 })
    })

    it('uses the last answer of that host for a limited time only', async () => {
      world.add('a')
      const a = world.watch('a', { target: 1 })
      await world.clock.pass(5_000)
      world.host('one').fails = true
      await world.clock.pass(longestSilenceMs - 100)
      assert.equal(world.rounds.at(-1)?.unknown, 0)
      await world.clock.pass(1_100)
      assert.equal(world.rounds.at(-1)?.unknown, 1)
      assert.equal(a.result, undefined)
    })

    it('decides for the others after the limit, and does not wait for it again', async () => {
      world.add('a')
      world.add('b', { hosts: ['two'] })
      const b = world.watch('b', { target: 1 })
      world.watch('a', { target: 1 })
      world.host('one').answerMs = null
      await world.clock.pass(5_000)
      assert.deepEqual(
        world.rounds.map(({ durationMs }) => durationMs),
        [answerLimitMs, 0, 0, 0, 0, 0],
      )
      assert.equal(world.host('one').asked.length, 1)
      world.host('two').uses('b-0', 2_000)
      await world.clock.pass(2_000)
      assert.partialDeepStrictEqual(b.result, { kind: 'resize', target: 2 })
    })

    it('uses an answer that comes after the limit in the next round', async () => {
      world.add('a')
      const a = world.watch('a', { target: 1 })
      world.host('one').answerMs = answerLimitMs + 300
      await world.clock.pass(10_500)
      assert.equal(world.rounds.at(-1)?.unknown, 0)
      assert.equal(Math.round(a.views.at(-1)?.metrics?.cpu ?? 0), 300)
      world.host('one').uses('a-0', 900)
      await world.clock.pass(5_000)
      assert.partialDeepStrictEqual(a.result, { kind: 'resize', target: 2 })
    })
  })

  it('knows no load of a host that was started again until that host has answered twice', async () => {
    world.add('a')
    const a = world.watch('a', { target: 1 })
    await world.clock.pass(5_500)
    world.host('one').restart()
    await world.clock.pass(1_000)
    assert.equal(world.rounds.at(-1)?.unknown, 1)
    await world.clock.pass(1_000)
    assert.equal(world.rounds.at(-1)?.unknown, 0)
    await world.clock.pass(5_000)
    assert.equal(a.result, undefined)
  })

  it('begins the mean anew when other instances count', async () => {
    world.add('a')
    const a = world.watch('a', { target: 2 })
    world.change('a', (members) => [...members, world.member('a-1')])
    world.host('one').uses('a-1', 300)
    await world.clock.pass(5_500)
    assert.notEqual(a.views.at(-1)?.metrics, undefined)
    world.change('a', ([first]) => [...(first === undefined ? [] : [first]), world.member('a-2')])
    world.host('one').uses('a-2', 300)
    await world.clock.pass(2_000)
    assert.equal(a.result, undefined)
    await world.clock.pass(roundsPerView * 1_000)
    assert.deepEqual(Object.keys(a.views.at(-1)?.loads ?? {}), ['a-0', 'a-2'])
  })

  describe('while the database is away', () => {
    for (const how of ['fails', 'hangs'] as const) {
      it(`decides nothing, tells why, and goes on afterwards (the database ${how})`, async () => {
        world.add('a')
        const a = world.watch('a', { target: 1 })
        await world.clock.pass(5_000)
        world.database = how
        world.host('one').uses('a-0', 2_000)
        world.services.delete('a')
        const toldBefore = a.views.length
        await world.clock.pass(60_000)
        assert.equal(a.result, undefined)
        assert.match(a.views.at(-1)?.trouble ?? '', /^the services could not be read for \d\d s$/)
        assert.equal(a.views.at(-1)?.size, 1)
        assert.ok(a.views.length - toldBefore >= 60 / roundsPerView - 1, 'it was told all the time')
        world.database = 'answers'
        await world.clock.pass(1_000)
        assert.deepEqual(a.result, { kind: 'closing' })
        assert.equal(world.failures, how === 'fails' ? 1 : 0)
        world.add('b')
        world.watch('b')
        world.database = how
        await world.clock.pass(5_000)
        assert.equal(world.failures, how === 'fails' ? 2 : 0)
      })
    }

    it('has one query under way at most', async () => {
      world.add('a')
      world.database = 'hangs'
      world.watch('a')
      await world.clock.pass(10_000)
      assert.equal(world.queries, 1)
    })

    it('tells the trouble also to a watch that had no look yet', async () => {
      world.database = 'fails'
      const a = world.watch('a')
      await world.clock.pass(10_000)
      assert.deepEqual(Object.keys(a.views.at(-1) ?? {}), ['trouble'])
    })
  })

  describe('the end of a watch', () => {
    it('comes at once when the watch is called off, even in the middle of a round, and no look follows', async () => {
      world.add('a')
      const a = world.watch('a')
      world.host('one').answerMs = null
      await world.clock.pass(100)
      const reason = new Error('called off')
      a.controller.abort(reason)
      await world.clock.settle()
      assert.equal(a.error, reason)
      const { queries } = world
      await world.clock.pass(10_000)
      assert.deepEqual([world.queries, world.clock.pending, a.result], [queries, 0, undefined])
    })

    it('leaves no decision from the round during which the watch was called off', async () => {
      world.add('a')
      const a = world.watch('a', { target: 3 })
      world.host('one').answerMs = null
      await world.clock.pass(100)
      a.controller.abort(new Error('called off'))
      await world.clock.pass(5_000)
      assert.deepEqual([world.rounds.length, world.decided], [1, []])
    })

    it('ends no other watch', async () => {
      world.add('a')
      world.add('b')
      const a = world.watch('a', { target: 1 })
      const again = world.watch('a', { target: 1 })
      const b = world.watch('b', { target: 1 })
      await world.clock.pass(2_000)
      a.controller.abort(new Error('called off'))
      world.services.delete('a')
      await world.clock.pass(2_000)
      assert.deepEqual([again.result, b.result, b.error], [{ kind: 'closing' }, undefined, undefined])
    })

    it('comes for all watches when the observer is closed, and no other watch can begin', async () => {
      world.add('a')
      const a = world.watch('a')
      await world.clock.pass(2_000)
      world.observer.close()
      await assert.rejects(a.promise, /the observer is closed/)
      await assert.rejects(world.watch('a').promise, /the observer is closed/)
      assert.equal(world.clock.pending, 0)
    })

    it('comes at once for a watch that was called off before it began', async () => {
      const controller = new AbortController()
      controller.abort(new Error('called off'))
      const { signal } = controller
      await assert.rejects(
        world.observer.watch({ serviceUuid: 'a' }, { signal, onView: () => undefined }),
        /called off/,
      )
      assert.equal(world.clock.pending, 0)
    })

    it('keeps the last counters, so that the next watch knows the load at its first look', async () => {
      world.add('a')
      world.watch('a', { target: 1 }).controller.abort()
      const first = world.watch('a', { target: 1 })
      await world.clock.pass(5_000)
      first.controller.abort()
      await world.clock.pass(1_500)
      const next = world.watch('a', { target: 1 })
      await world.clock.pass(0)
      assert.equal(Math.round(next.views.at(-1)?.loads?.['a-0']?.cpu ?? 0), 300)
    })
  })

  it('does not let one service break the others', async () => {
    world.add('a')
    world.add('b')
    world.change('a', ([member]) =>
      member === undefined ? [] : [{ ...member, state: 'unheard of' as never }],
    )
    const [a, b] = [world.watch('a'), world.watch('b', { target: 1 })]
    await world.clock.pass(1_000)
    assert.ok(a.error instanceof TypeError)
    assert.deepEqual([b.error, b.views.at(-1)?.size, world.failures], [undefined, 1, 0])
  })

  it('looks at a thousand services in one round, with one query and one question to each host', async () => {
    const hosts = ['one', 'two', 'three']
    const watched = many(1_000, hosts)
    await world.clock.pass(6_000)
    assert.equal(world.queries, 7)
    assert.deepEqual(
      hosts.map((host) => world.host(host).asked.length),
      [7, 7, 7],
    )
    assert.deepEqual(world.rounds.at(-1), { durationMs: 0, services: 1_000, unknown: 0 })
    const told = watched.reduce((sum, { views }) => sum + views.length, 0)
    assert.equal(told, 7 * Math.ceil(1_000 / longestRoundsPerView))
    world.host('one').uses('s0-0', 2_000)
    await world.clock.pass(4_000)
    assert.deepEqual(
      watched.flatMap(({ result }, index) => (result === undefined ? [] : [index])),
      [0],
    )
  })

  it('sends a view at every fifth look if it watches few services, and in turns if it watches many', async () => {
    const few = many(3, ['one'])
    await world.clock.pass(4 * roundsPerView * 1_000)
    assert.deepEqual(
      few.map(({ views }) => views.length),
      [5, 5, 5],
    )
    for (const { controller } of few) controller.abort()
    const all = many(20 * viewsPerRound, ['one'])
    for (const times of [1, 2, 3]) {
      await world.clock.pass(20_000)
      assert.ok(
        all.every(({ views }) => views.length === times),
        `each was told ${times} times`,
      )
    }
  })

  /** Begins to watch `count` services, each with one instance. */
  function many(count: number, hosts: readonly string[]) {
    const uuids = Array.from({ length: count }, (_, index) => `s${index}`)
    for (const [index, uuid] of uuids.entries())
      world.add(uuid, { hosts: [hosts[index % hosts.length] ?? 'one'] })
    return uuids.map((uuid) => world.watch(uuid, { target: 1 }))
  }
})
