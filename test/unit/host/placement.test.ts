import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { footprintMb } from '../../../src/domain/host/memory-room.ts'
import { chooseHosts, preferHosts, vcpusPerProcessor } from '../../../src/domain/host/placement.ts'
import type { PlacementHost, PlacementWish } from '../../../src/domain/host/placement.ts'

const empty: PlacementHost = {
  id: 'a',
  isHeard: true,
  memoryMb: 1_000,
  promisedMemoryMb: 0,
  cpus: 4,
  promisedVcpus: 0,
  roomMb: 1_000,
  volumeMb: 1_000,
  promisedVolumeMb: 0,
  alike: 0,
}
/** Its footprint is 200 MiB. */
const starting: PlacementWish = { instance: { memoryMb: 136, vcpus: 1, starts: true } }
const resting: PlacementWish = { instance: { memoryMb: 136, vcpus: 1, starts: false } }

type Differing = Readonly<Record<string, Partial<PlacementHost>>>

function hostsOf(differing: Differing): readonly PlacementHost[] {
  return Object.entries(differing).map(([id, more]) => ({ ...empty, ...more, id }))
}

interface Case {
  readonly title: string
  readonly hosts: Differing
  readonly wish: PlacementWish
  readonly chosen: string
  readonly kind: string
}

const cases: readonly Case[] = [
  {
    title: 'the lower id of equal hosts',
    hosts: { b: {}, a: {}, c: {} },
    wish: starting,
    chosen: 'a',
    kind: 'room',
  },
  {
    title: 'the host that promised the smaller share of its memory',
    hosts: { a: { promisedMemoryMb: 400 }, b: { promisedMemoryMb: 399 } },
    wish: resting,
    chosen: 'b',
    kind: 'room',
  },
  {
    title: 'the larger of empty hosts, of which a larger share is left',
    hosts: { a: {}, b: { memoryMb: 1_001 } },
    wish: resting,
    chosen: 'b',
    kind: 'room',
  },
  {
    title: 'the host that promised the smaller share of its processors, if these are scarcer',
    hosts: { a: { promisedVcpus: 8, promisedMemoryMb: 100 }, b: { promisedVcpus: 7, promisedMemoryMb: 300 } },
    wish: resting,
    chosen: 'b',
    kind: 'room',
  },
  {
    title: 'by memory alone among hosts that do not tell their processors',
    hosts: {
      a: { cpus: null, promisedVcpus: 1, promisedMemoryMb: 2 },
      b: { cpus: null, promisedVcpus: 99, promisedMemoryMb: 1 },
    },
    wish: resting,
    chosen: 'b',
    kind: 'room',
  },
  {
    title: 'the host with fewer instances of the same kind, even if it has less room',
    hosts: { a: { alike: 1 }, b: { promisedMemoryMb: 700, roomMb: 300 } },
    wish: starting,
    chosen: 'b',
    kind: 'spread',
  },
  {
    title: 'by room among those that have equally few of the same kind',
    hosts: { a: { alike: 2 }, b: { alike: 1, promisedMemoryMb: 1 }, c: { alike: 1 } },
    wish: resting,
    chosen: 'c',
    kind: 'spread',
  },
  {
    title: 'a host that was heard before one that is silent, whatever else that has',
    hosts: { a: { isHeard: false }, b: { alike: 5, promisedMemoryMb: 900 }, c: { isHeard: false } },
    wish: resting,
    chosen: 'b',
    kind: 'heard',
  },
  {
    title: 'a silent host if no other has room',
    hosts: { a: { roomMb: 199 }, b: { isHeard: false } },
    wish: starting,
    chosen: 'b',
    kind: 'fits',
  },
  {
    title: 'among silent hosts as among others if there are no others',
    hosts: { a: { isHeard: false, promisedMemoryMb: 1 }, b: { isHeard: false } },
    wish: starting,
    chosen: 'b',
    kind: 'room',
  },
  {
    title: 'the one host that has room for a start, to the last MiB',
    hosts: { a: { roomMb: 199 }, b: { roomMb: 200, promisedMemoryMb: 5_000, alike: 9 } },
    wish: starting,
    chosen: 'b',
    kind: 'fits',
  },
  {
    title: 'a host without room for a start if the instance does not start',
    hosts: { a: { roomMb: -5 }, b: { promisedMemoryMb: 500 } },
    wish: resting,
    chosen: 'a',
    kind: 'room',
  },
  {
    title: 'the one host that has room for the new volume',
    hosts: { a: { promisedVolumeMb: 901 }, b: { promisedVolumeMb: 900, promisedMemoryMb: 800 } },
    wish: { ...resting, volumeMb: 100 },
    chosen: 'b',
    kind: 'fits',
  },
  {
    title: 'by the room for volumes if that is scarcer',
    hosts: { a: { promisedVolumeMb: 600 }, b: { promisedMemoryMb: 300 } },
    wish: { ...resting, volumeMb: 100 },
    chosen: 'b',
    kind: 'room',
  },
  {
    title: 'by the room for volumes alone for a volume without an instance',
    hosts: { a: { promisedVolumeMb: 1 }, b: { promisedMemoryMb: 9_000, promisedVcpus: 900 } },
    wish: { volumeMb: 100 },
    chosen: 'b',
    kind: 'room',
  },
  {
    title: 'the host that promised less among those that have no memory of their own to promise',
    hosts: { a: { memoryMb: 0, promisedMemoryMb: 160 }, b: { memoryMb: 0 } },
    wish: resting,
    chosen: 'b',
    kind: 'room',
  },
  { title: 'the only host', hosts: { a: { isHeard: false } }, wish: starting, chosen: 'a', kind: 'only' },
]

describe('the choice of a host', () => {
  for (const { title, hosts, wish, chosen, kind } of cases)
    it(`is ${title}`, () => {
      const choice = chooseHosts(hostsOf(hosts), wish, 1)
      assert.ok(choice.ok)
      assert.deepEqual(
        choice.chosen.map(({ host, reason }) => [host.id, reason.kind]),
        [[chosen, kind]],
      )
    })

  it('says with its reason what the host had promised before, and among how many it was chosen', () => {
    const choice = chooseHosts(
      hostsOf({ a: { promisedMemoryMb: 200, promisedVcpus: 3 }, b: { alike: 1 }, c: { roomMb: 1 } }),
      starting,
      1,
    )
    assert.ok(choice.ok)
    const room = { promisedMemoryMb: 200, memoryMb: 1_000, promisedVcpus: 3, cpus: 4 }
    assert.deepEqual(choice.chosen[0]?.reason, { kind: 'spread', hosts: 2, alike: 0, room })
  })

  it('is refused for what is missing, the room for volumes first', () => {
    const lackOf = (differing: Differing, wish: PlacementWish, count = 1) => {
      const choice = chooseHosts(hostsOf(differing), wish, count)
      return choice.ok ? undefined : choice.lack
    }
    const withVolume = { ...starting, volumeMb: 100 }
    assert.equal(lackOf({ a: { roomMb: 199 }, b: { roomMb: 0 } }, starting), 'memory-room')
    assert.equal(lackOf({ a: { roomMb: 199, volumeMb: 99 } }, withVolume), 'volume-room')
    assert.equal(lackOf({ a: { volumeMb: 99 }, b: { roomMb: 199 } }, withVolume), 'memory-room')
    assert.equal(lackOf({ a: {} }, starting, 5), undefined)
    assert.equal(lackOf({ a: {} }, starting, 6), 'memory-room', 'all find a host or none does')
  })
})

const someHost = fc.record({
  isHeard: fc.boolean(),
  memoryMb: fc.integer({ min: 0, max: 4_000 }),
  promisedMemoryMb: fc.integer({ min: 0, max: 6_000 }),
  cpus: fc.option(fc.integer({ min: 1, max: 8 })),
  promisedVcpus: fc.integer({ min: 0, max: 60 }),
  roomMb: fc.integer({ min: -500, max: 4_000 }),
  volumeMb: fc.integer({ min: 0, max: 1_000 }),
  promisedVolumeMb: fc.integer({ min: 0, max: 1_200 }),
  alike: fc.integer({ min: 0, max: 4 }),
})
const someHosts = fc
  .array(someHost, { minLength: 1, maxLength: 5 })
  .map((all): readonly PlacementHost[] => all.map((host, index) => ({ ...host, id: `h${index}` })))
const someWish: fc.Arbitrary<PlacementWish> = fc.record(
  {
    instance: fc.record({
      memoryMb: fc.integer({ min: 16, max: 1_000 }),
      vcpus: fc.integer({ min: 1, max: 4 }),
      starts: fc.boolean(),
    }),
    volumeMb: fc.integer({ min: 1, max: 300 }),
  },
  { requiredKeys: ['instance'] },
)
const someCount = fc.integer({ min: 1, max: 12 })

describe('the choice of hosts, whatever they have', () => {
  it('gives no room twice, and refuses only what no order of choices could place', () => {
    fc.assert(
      fc.property(someHosts, someWish, someCount, (hosts, wish, count) => {
        const neededMb = wish.instance?.starts === true ? footprintMb(wish.instance.memoryMb) : 0
        const places = ({ roomMb, volumeMb, promisedVolumeMb }: PlacementHost) =>
          Math.max(
            0,
            Math.min(
              neededMb === 0 ? Infinity : Math.floor(roomMb / neededMb),
              wish.volumeMb === undefined
                ? Infinity
                : Math.floor((volumeMb - promisedVolumeMb) / wish.volumeMb),
            ),
          )
        const choice = chooseHosts(hosts, wish, count)
        const most = hosts.reduce((sum, host) => sum + places(host), 0)
        assert.equal(choice.ok, most >= count)
        if (!choice.ok) return
        assert.equal(choice.chosen.length, count)
        for (const host of hosts)
          assert.ok(choice.chosen.filter((one) => one.host.id === host.id).length <= places(host))
      }),
    )
  })

  it('does not depend on the order in which hosts are read', () => {
    fc.assert(
      fc.property(someHosts, someWish, someCount, (hosts, wish, count) => {
        const told = (all: readonly PlacementHost[]) => {
          const choice = chooseHosts(all, wish, count)
          return choice.ok ? choice.chosen.map(({ host, reason }) => [host.id, reason]) : choice
        }
        assert.deepEqual(told(hosts.toReversed()), told(hosts))
      }),
    )
  })

  it('has no two hosts that differ by more than one instance of a request, if all have room', () => {
    fc.assert(
      fc.property(someHosts, fc.integer({ min: 1, max: 20 }), (all, count) => {
        const hosts = all.map((host) => ({ ...host, isHeard: true, alike: 0 }))
        const choice = chooseHosts(hosts, resting, count)
        assert.ok(choice.ok)
        const counts = hosts.map(({ id }) => choice.chosen.filter(({ host }) => host.id === id).length)
        assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join(', '))
      }),
    )
  })

  it('passes over a silent host while one that was heard has room, and never spreads less than it could', () => {
    fc.assert(
      fc.property(someHosts, someWish, (hosts, wish) => {
        const choice = chooseHosts(hosts, wish, 1)
        if (!choice.ok) return
        const { host } = choice.chosen[0]!
        const able = hosts.filter((one) => chooseHosts([one], wish, 1).ok)
        const better = able.filter(({ isHeard }) => isHeard)
        assert.ok(host.isHeard || better.length === 0)
        const compared = better.length > 0 ? better : able
        assert.equal(host.alike, Math.min(...compared.map(({ alike }) => alike)))
      }),
    )
  })

  it('takes the host with most of what is scarcer left, as far as nothing else tells hosts apart', () => {
    fc.assert(
      fc.property(someHosts, (all) => {
        const hosts = all.map((host) => ({ ...host, alike: 0, isHeard: true, cpus: host.cpus ?? 1 }))
        const choice = chooseHosts(hosts, resting, 1)
        assert.ok(choice.ok)
        const used = ({ memoryMb, promisedMemoryMb, cpus, promisedVcpus }: PlacementHost) =>
          Math.max(
            (promisedMemoryMb + 200) / Math.max(1, memoryMb),
            (promisedVcpus + 1) / ((cpus ?? 1) * vcpusPerProcessor),
          )
        const least = Math.min(...hosts.map(used))
        assert.ok(used(choice.chosen[0]!.host) <= least + 1e-9)
      }),
    )
  })
})

describe('the order of preference', () => {
  const idsOf = (differing: Differing, most = 8) =>
    preferHosts(hostsOf(differing), starting, most).map(({ host }) => host.id)

  it('begins with the host that is chosen, and goes on with the one that is chosen after it', () => {
    assert.deepEqual(idsOf({ a: { promisedMemoryMb: 150 }, b: {}, c: { promisedMemoryMb: 100 } }), [
      'b',
      'c',
      'a',
    ])
    assert.deepEqual(idsOf({ a: {}, b: {}, c: {} }, 2), ['a', 'b'])
  })

  it('leaves a service spread: who has none of its instances comes first, whoever else is placed there', () => {
    assert.deepEqual(idsOf({ a: { alike: 1 }, b: { promisedMemoryMb: 700 } }), ['b'])
  })

  it('ends where a host before would be chosen again: waiting for it is better then', () => {
    assert.deepEqual(idsOf({ a: {}, b: { promisedMemoryMb: 500 } }), ['a'])
  })

  it('has no host without room', () => {
    assert.deepEqual(idsOf({ a: { roomMb: 199 }, b: { roomMb: 200 } }), ['b'])
    assert.deepEqual(idsOf({ a: { roomMb: 199 } }), [])
  })
})
