import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { gatewayMetrics, killServing } from '../support/gateway-deaths.ts'
import { LaneTraffic, assertNoneLost, tellLost } from '../support/lane-traffic.ts'
import { virtualMachinesByInstance } from '../support/processes.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import {
  askOver,
  beginRollout,
  checkAt,
  instancesOf,
  newestOf,
  openConnection,
  openGates,
  openLane,
  removeGates,
  untilPhase,
  untilTidy,
} from '../support/rollout-lanes.ts'
import type { Lane } from '../support/rollout-lanes.ts'
import { removeVersions } from '../support/versioned-service.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0
const inTime = { limitMs: 120_000 }

/** How long the new version is watched in the lane that is in `baking` when a part is killed. */
const bakeS = 15
/** What is open at an old version may go on for 30 s. This is long enough to notice that it is cut off. */
const stillOpenMs = 11_000

/**
 * Each round makes a rollout in every lane at once, kills one part when all of them are at their moments, and
 * looks at what became of each. The lanes of a pair take turns: while one brings a version in, the other goes
 * back to the one that it keeps.
 */
interface Lanes {
  readonly pair: readonly [Lane, Lane]
  readonly volumePair: readonly [Lane, Lane]
  readonly baking: Lane
  readonly handingOver: Lane
}

/** What answers in a lane now, and before. */
interface Told {
  now: string
  before: string
}

describe('rollouts at all moments survive the death of', function () {
  let stack: Stack
  let names: PublicNames
  let lanes: Lanes
  let round = 0
  let isBroken = false
  const told = new Map<Lane, Told>()

  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    const open = (name: string, hasVolume = false): Promise<Lane> => openLane(stack, name, hasVolume)
    const [one, two, three, four, baking, handingOver] = await Promise.all([
      open('dies-one'),
      open('dies-two'),
      open('dies-three', true),
      open('dies-four', true),
      open('dies-baking'),
      open('dies-handing'),
    ])
    lanes = { pair: [one, two], volumePair: [three, four], baking, handingOver }
    for (const lane of all()) told.set(lane, { now: '0', before: '0' })
    // Each pair begins with one that has a version to go back to.
    await openGates('first', 'second')
    await Promise.all([two, four].map((lane) => forward(lane, { bake_s: 0, check: checkAt('second') })))
    await Promise.all([two, four].map((lane) => untilPhase(stack, lane, 'kept')))
  })
  // A round begins where the one before it ended.
  afterEach(function () {
    isBroken ||= this.currentTest?.state === 'failed'
  })
  beforeEach(function () {
    if (isBroken) this.skip()
  })
  after(async () => {
    if (lanes === undefined) return
    for (const lane of all()) await removeVersions(stack, lane.service)
    await removeGates()
    await names.close()
  })

  const all = (): readonly Lane[] => [...lanes.pair, ...lanes.volumePair, lanes.baking, lanes.handingOver]
  const isBackTurn = (lane: Lane): boolean =>
    [lanes.pair, lanes.volumePair].some((pair) => pair[(round + 1) % 2] === lane)

  async function forward(lane: Lane, wishes: Readonly<Record<string, unknown>>): Promise<void> {
    const { now } = told.get(lane)!
    const next = String(Number(now) + 1)
    await beginRollout(stack, lane, next, wishes)
    told.set(lane, { now: next, before: now })
  }

  async function back(lane: Lane): Promise<void> {
    await stack.api.one('rollBackServices', { object: lane.service })
    const { now, before } = told.get(lane)!
    told.set(lane, { now: before, before: now })
  }

  /**
   * Brings each lane to its moment. Those of the pairs stay there until the second gate is open. The one that
   * is to be in `baking` waits at the first gate until all others are there. The old version of the last lane
   * drains while it has a connection.
   */
  async function bringToMoments(canary: readonly number[]): Promise<void> {
    const { baking, handingOver, pair, volumePair } = lanes
    const turns = [...pair, ...volumePair]
    const begin = async (lane: Lane): Promise<void> => {
      await (isBackTurn(lane) ? back(lane) : forward(lane, { bake_s: 0, check: checkAt('second') }))
      await untilComingUp(lane)
    }
    await Promise.all([
      ...pair.map(begin),
      forward(baking, { canary, bake_s: bakeS, check: checkAt('first') }).then(() => untilComingUp(baking)),
    ])
    // Requests wait while a volume is handed over, and may not wait for long.
    await Promise.all([
      ...volumePair.map(begin),
      forward(handingOver, { bake_s: 0 }).then(() => untilPhase(stack, handingOver, 'kept')),
    ])
    await openGates('first')
    await untilPhase(stack, baking, 'baking')
    const turnOf = (lane: Lane): string => (isBackTurn(lane) ? 'returning' : 'preparing')
    assert.deepEqual(await momentsNow(), {
      ...Object.fromEntries(turns.map((lane) => [lane.name, turnOf(lane)])),
      [baking.name]: 'baking',
      [handingOver.name]: 'kept',
    })
    const old = (await instancesOf(stack, handingOver)).find(({ name }) => name !== handingOver.name)
    assert.notEqual(old?.state, 'stopped', 'the old version still has a connection')
  }

  async function momentsNow(): Promise<Readonly<Record<string, string | undefined>>> {
    const phases = await Promise.all(
      all().map(async (lane) => [lane.name, (await newestOf(stack, lane))?.phase] as const),
    )
    return Object.fromEntries(phases)
  }

  /** Waits until the version that is to serve runs and is checked, or has got the volume. */
  async function untilComingUp(lane: Lane): Promise<void> {
    let seen = ''
    const comesUp = async (): Promise<boolean> => {
      const newest = await newestOf(stack, lane)
      if (newest?.phase !== 'preparing' && newest?.phase !== 'returning') return false
      const found = await instancesOf(stack, lane)
      seen = JSON.stringify(found.map(({ name, state, volumes }) => ({ name, state, volumes })))
      if (!lane.hasVolume) return found.every(({ state }) => state === 'running') && found.length === 2
      const holder = found.find(({ volumes = [] }) => volumes.length > 0)
      // Names change hands at the end.
      return holder !== undefined && holder.name !== lane.name
    }
    try {
      await until(`${lane.name} comes up`, comesUp, inTime)
    } catch (cause) {
      throw new Error(`${lane.name} does not come up: ${seen}`, { cause })
    }
  }

  /** What has to hold after each death: every rollout ended as it should, and nothing of it is left over. */
  async function verify(traffic: readonly LaneTraffic[]): Promise<void> {
    await openGates('first', 'second')
    await Promise.all(
      traffic.map(async (one) => {
        const { lane } = one
        const { phase, reason } = await untilPhase(stack, lane, 'kept', 'returned')
        assert.equal(phase, isBackTurn(lane) ? 'returned' : 'kept', `${lane.name}: ${reason}`)
        await one.untilOnly(told.get(lane)!.now)
        await untilTidy(stack, lane, isBackTurn(lane) ? 'returned' : 'kept')
      }),
    )
    const serving = await Promise.all(all().map((lane) => instancesOf(stack, lane)))
    const running = serving.flat().filter(({ state }) => state === 'running')
    assert.equal(running.length, all().length)
    const machines = virtualMachinesByInstance(stack.dataDir)
    for (const { uuid, name, state, restart_count: restarts } of serving.flat()) {
      assert.equal(machines.get(uuid)?.length ?? 0, state === 'running' ? 1 : 0, `VMs of ${name}`)
      assert.equal(restarts, 0, `${name} was never restarted`)
    }
  }

  async function untilNothingWaits(): Promise<void> {
    await until(
      'no request waits at the gateway',
      async () => {
        const text = await (await fetch(`${gatewayMetrics(stack)}/metrics`)).text()
        return /^roost_gateway_queued 0$/m.test(text)
      },
      inTime,
    )
  }

  /** What goes on in the lanes while a part is killed. */
  interface Scene {
    /** From before the death on. */
    readonly traffic: readonly LaneTraffic[]
    /** A connection to the old version of the lane that is being handed over. */
    readonly connection: TLSSocket
  }

  /** Plays a round: brings all lanes to their moments, ends the traffic after `death`, and returns it. */
  async function play(
    canary: readonly number[],
    death: (scene: Scene) => Promise<void>,
  ): Promise<readonly LaneTraffic[]> {
    const connection = await openConnection(names, lanes.handingOver)
    const traffic = all().map((lane) => new LaneTraffic(names, lane))
    try {
      await openGates()
      await bringToMoments(canary)
      assertNoneLost(traffic, 'before the death')
      await death({ traffic, connection })
    } finally {
      connection.destroy()
      await openGates('first', 'second')
      await Promise.all(traffic.map(async (one) => await one.end()))
    }
    await untilNothingWaits()
    round += 1
    return traffic
  }

  // These have no part in the way of a request.
  for (const part of ['postgres', 'temporal', 'agent']) {
    it(`${part}, and no request is lost`, async () => {
      const { now: greeting } = told.get(lanes.handingOver)!
      const sent = await play([100], async ({ traffic, connection }) => {
        const killed = stack.killPart(part)
        await delay(stillOpenMs)
        assert.equal(await askOver(connection), greeting, 'what is open at the old version goes on')
        await killed
        await verify(traffic)
      })
      assertNoneLost(sent, `around the death of ${part}`)
    })
  }

  const gatewayKills = {
    'the gateway': async () => await stack.killPart('gateway'),
    'a serving process of the gateway': async () => await killServing(stack),
  }

  for (const [what, kill] of Object.entries(gatewayKills)) {
    it(`${what}, and only what was open there is lost`, async () => {
      let readyMs = 0
      let after: readonly LaneTraffic[] = []
      let before: readonly LaneTraffic[] = []
      try {
        before = await play([50, 100], async ({ traffic }) => {
          await kill()
          for (const one of traffic) one.stop()
          readyMs = performance.now()
          after = all().map((lane) => new LaneTraffic(names, lane))
          const { now, before: old } = told.get(lanes.baking)!
          const divided = await after.find(({ lane }) => lane === lanes.baking)!.next(20)
          assert.partialDeepStrictEqual(await newestOf(stack, lanes.baking), { phase: 'baking', step: 1 })
          // The answers come in nearly the order in which the gateway divided their requests.
          const { [old]: one = 0, [now]: two = 0 } = divided
          assert.ok(one + two === 20 && Math.abs(one - two) <= 2, JSON.stringify(divided))
          await verify(after)
        })
      } finally {
        await Promise.all(after.map(async (one) => await one.end()))
      }
      assertNoneLost(after, `after ${what} was there again`)
      const lost = before.flatMap((one) => one.lost)
      const wrong = lost.filter(({ isBroken, sentMs }) => !isBroken || sentMs > readyMs)
      assert.equal(wrong.length, 0, tellLost(wrong))
      console.log(`      ${lost.length} requests were open at it, or came before it listened again`)
    })
  }
})
