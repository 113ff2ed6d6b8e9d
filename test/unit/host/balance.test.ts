import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { evenWithin, planBalance } from '../../../src/domain/host/balance.ts'
import type { BalancedInstance, BalancingMove, FullnessChange } from '../../../src/domain/host/balance.ts'
import { footprintMb } from '../../../src/domain/host/memory-room.ts'
import { fullness, withWish } from '../../../src/domain/host/placement.ts'
import type { PlacementHost } from '../../../src/domain/host/placement.ts'

const empty: PlacementHost = {
  id: 'a',
  isHeard: true,
  memoryMb: 10_000,
  promisedMemoryMb: 0,
  cpus: 8,
  promisedVcpus: 0,
  roomMb: 10_000,
  volumeMb: 1_000,
  promisedVolumeMb: 0,
  alike: 0,
}

interface Described {
  readonly on: string
  readonly memoryMb?: number
  readonly vcpus?: number
  readonly sleeps?: true
  readonly kind?: string
  readonly stays?: true
}

/** Instances by name, and the hosts with what they are promised to. */
function filled(
  hosts: Readonly<Record<string, Partial<PlacementHost>>>,
  described: Record<string, Described>,
) {
  const instances = Object.entries(described).map(([name, one]): BalancedInstance => {
    const { on, memoryMb = 936, vcpus = 1, sleeps, kind, stays } = one
    return {
      uuid: `uuid of ${name}`,
      name,
      nodeId: on,
      wish: { instance: { memoryMb, vcpus, starts: sleeps !== true } },
      ...(kind !== undefined && { kind }),
      isFree: stays !== true,
    }
  })
  const full = Object.entries(hosts).map(([id, more]) =>
    instances
      .filter(({ nodeId }) => nodeId === id)
      .reduce<PlacementHost>((host, { wish }) => withWish(host, wish), { ...empty, ...more, id }),
  )
  return { hosts: full, instances }
}

const told = (moves: readonly BalancingMove[]) =>
  moves.map(({ instance, from, to }) => `${instance.name}: ${from.hostId} to ${to.hostId}`)

describe('a plan that makes hosts equally full', () => {
  const four = { one: { on: 'a' }, two: { on: 'a' }, three: { on: 'a' }, four: { on: 'a' } }

  for (const { title, hosts, instances, most = 10, moves } of [
    {
      title: 'moves half of them to a host that joined',
      hosts: { a: {}, b: {} },
      instances: four,
      moves: ['one: a to b', 'two: a to b'],
    },
    {
      title: 'moves no more than it may',
      hosts: { a: {}, b: {} },
      instances: four,
      most: 1,
      moves: ['one: a to b'],
    },
    {
      title: 'goes from the fullest host to the emptiest',
      hosts: { a: {}, b: {}, c: {} },
      instances: { ...four, five: { on: 'b' } },
      moves: ['one: a to c', 'two: a to b'],
    },
    {
      title: 'leaves hosts that are even',
      hosts: { a: {}, b: {} },
      instances: { one: { on: 'a', memoryMb: 800 } },
      moves: [],
    },
    {
      title: 'takes what brings most first',
      hosts: { a: {}, b: {} },
      instances: {
        small: { on: 'a', memoryMb: 136 },
        large: { on: 'a', memoryMb: 2_936 },
        other: { on: 'a', memoryMb: 2_936 },
      },
      most: 1,
      moves: ['large: a to b'],
    },
    {
      title: 'takes one that sleeps before one that runs',
      hosts: { a: {}, b: {} },
      instances: { ...four, asleep: { on: 'a', sleeps: true } },
      most: 1,
      moves: ['asleep: a to b'],
    },
    {
      title: 'leaves what can not move',
      hosts: { a: {}, b: {} },
      instances: {
        one: { on: 'a', stays: true },
        two: { on: 'a', stays: true },
        three: { on: 'a' },
        four: { on: 'a' },
      },
      moves: ['three: a to b', 'four: a to b'],
    },
    {
      title: 'brings no more of one service together than there were',
      hosts: { a: {}, b: {} },
      instances: {
        one: { on: 'a', kind: 'web' },
        two: { on: 'a' },
        three: { on: 'a' },
        four: { on: 'a' },
        five: { on: 'b', kind: 'web' },
      },
      moves: ['two: a to b'],
    },
    {
      title: 'asks nothing of a host that is not heard',
      hosts: { a: {}, b: { isHeard: false } },
      instances: four,
      moves: [],
    },
    {
      title: 'asks for room for what runs',
      hosts: { a: {}, b: { roomMb: 1_000 } },
      instances: four,
      moves: ['one: a to b'],
    },
    {
      title: 'counts processors where they are scarcer than memory',
      hosts: { a: { cpus: 1 }, b: { cpus: 1 } },
      instances: { one: { on: 'a', memoryMb: 136, vcpus: 2 }, two: { on: 'a', memoryMb: 136, vcpus: 2 } },
      moves: ['one: a to b'],
    },
    { title: 'has nothing for one host', hosts: { a: {} }, instances: four, moves: [] },
    { title: 'has nothing for none', hosts: {}, instances: {}, moves: [] },
  ] satisfies readonly {
    title: string
    hosts: Record<string, Partial<PlacementHost>>
    instances: Record<string, Described>
    most?: number
    moves: string[]
  }[]) {
    it(title, () => {
      const { hosts: present, instances: placed } = filled(hosts, instances)
      assert.deepEqual(told(planBalance(present, placed, most)), moves)
    })
  }

  it('tells how full both hosts are before and after each move', () => {
    const { hosts, instances } = filled({ a: {}, b: {} }, four)
    assert.equal(footprintMb(936), 1_000)
    const percent = ({ hostId, before, after }: FullnessChange) =>
      `${hostId}: ${Math.round(100 * before)} % to ${Math.round(100 * after)} %`
    const shown = planBalance(hosts, instances, 10).flatMap(({ from, to }) => [percent(from), percent(to)])
    assert.deepEqual(shown, ['a: 40 % to 30 %', 'b: 0 % to 10 %', 'a: 30 % to 20 %', 'b: 10 % to 20 %'])
  })

  it('comes to an end, never makes the fullest host fuller, and leaves nothing worth a move', () => {
    const size = fc.record({
      on: fc.constantFrom('a', 'b', 'c'),
      memoryMb: fc.integer({ min: 64, max: 2_000 }),
    })
    fc.assert(
      fc.property(fc.array(size, { maxLength: 25 }), (sizes) => {
        const described = Object.fromEntries(
          sizes.map((one, index) => [`i${index}`, { ...one, sleeps: true as const }]),
        )
        const { hosts, instances } = filled({ a: {}, b: {}, c: {} }, described)
        const moves = planBalance(hosts, instances, 100)
        assert.ok(moves.length <= instances.length)
        const places = new Map(instances.map(({ uuid, nodeId }) => [uuid, nodeId]))
        for (const { instance, to } of moves) places.set(instance.uuid, to.hostId)
        const after = instances.map((one) => ({ ...one, nodeId: places.get(one.uuid)! }))
        const full = hosts.map((host) =>
          after
            .filter(({ nodeId }) => nodeId === host.id)
            .reduce<PlacementHost>((sum, { wish }) => withWish(sum, wish), { ...empty, id: host.id }),
        )
        const fullest = (some: readonly PlacementHost[]) => Math.max(...some.map(fullness))
        assert.ok(fullest(full) <= fullest(hosts) + 1e-9)
        const gap = fullest(full) - Math.min(...full.map(fullness))
        const largest = Math.max(
          0,
          ...instances.map(({ wish }) => footprintMb(wish.instance.memoryMb) / 10_000),
        )
        assert.ok(gap < Math.max(evenWithin, largest + 0.02), `a gap of ${gap} is left`)
      }),
    )
  })
})
