import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { LaunchSpec } from '../../../src/domain/host/api-protocol.ts'
import { permitOf } from '../../../src/host/instance/record.ts'
import { seen, TestGateway } from '../leases/gateway.ts'
import { dieEverywhere } from './death.ts'
import { Machine, uuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'
import { instance, MoveScene, newPlace, oldPlace, slept } from './move-scene.ts'

/** The other host of each timeline, with the port at which it lets the instance be fetched. */
const others = new WeakMap<Machine, { readonly scene: MoveScene; readonly port: number }>()

/** The scenes of all timelines that are to be removed. The last one has no death, so nobody checks it. */
const scenes = new Set<MoveScene>()

async function heldElsewhere(machine: Machine): Promise<void> {
  const scene = new MoveScene(await Machine.make(), machine)
  await scene.asleep()
  scenes.add(scene)
  others.set(machine, { scene, port: await scene.hold() })
}

async function fetchedHere(machine: Machine, lies: Partial<LaunchSpec> = {}): Promise<void> {
  await heldElsewhere(machine)
  const { scene, port } = otherOf(machine)
  const held = scene.oldLive.agent.entries.get(uuid)
  if (held?.launch !== undefined) held.launch = { ...held.launch, spec: { ...held.launch.spec, ...lies } }
  await scene.openNew()
  await scene.fetch(port)
  scene.moveRow()
  scene.newLive.kill()
  await scene.newLive.written()
}

function otherOf(machine: Machine): { readonly scene: MoveScene; readonly port: number } {
  const other = others.get(machine)
  assert.ok(other !== undefined)
  return other
}

async function fetch(live: LiveAgent, machine: Machine): Promise<void> {
  const { port } = otherOf(machine)
  const fetched = await live.agent.moves.fetch({ ...slept, from: { ...oldPlace, port } })
  assert.deepEqual(fetched, { memory: 'kept' })
}

/** The instance wakes here, from its memory, as one VM of the permit's boot. */
async function wakesHere(machine: Machine, live: LiveAgent): Promise<void> {
  const opened = await new TestGateway(live).connect().opened()
  assert.deepEqual([opened.boot, opened.memoryBoot], [2, 1])
  assert.equal(machine.host.running(uuid), 1)
}

async function removeOthers(): Promise<void> {
  for (const { oldLive, old } of scenes) {
    oldLive.kill()
    await old.remove()
  }
  scenes.clear()
}

describe('an agent that is killed anywhere in a move', function () {
  this.timeout(300_000)
  afterEach(removeOthers)

  it('while it holds a sleeper: it is held, once, and complete', async () => {
    const deaths = await dieEverywhere({
      prepare: async (machine) => {
        const scene = new MoveScene(machine, await Machine.make())
        await scene.asleep()
        scene.oldLive.kill()
        await scene.oldLive.written()
        await scene.new.remove()
      },
      script: async (live) => {
        assert.ok((await live.agent.moves.hold({ ...slept, to: newPlace })).held)
      },
      check: async (machine, last) => {
        const entry = last.agent.entries.get(uuid)
        assert.deepEqual([entry?.hostLease.phase, entry?.record?.move?.role], ['held', 'old'])
        assert.equal(machine.host.running(uuid), 0)
        await last.agent.moves.release(instance)
        await wakesHere(machine, last)
      },
    })
    assert.ok(deaths > 10, String(deaths))
  })

  it('on the way to a standby that is held: it is held or it runs, and its order finds it', async () => {
    await dieEverywhere({
      prepare: async (machine) => {
        const scene = new MoveScene(machine, await Machine.make())
        await scene.openOld()
        await scene.oldLive.agent.start({ ...instance, boot: 1 })
        scene.oldLive.kill()
        await scene.oldLive.written()
        await scene.new.remove()
      },
      script: async (live, machine) => {
        const order = { ...slept, epoch: 7, stateful: true, graceMs: 0, drainMs: 0, hold: newPlace }
        const ordered = live.agent.standBy(order)
        machine.nowMs += 20_000
        live.agent.leases.tick()
        assert.equal((await ordered).slept, true)
        assert.ok((await live.agent.moves.hold({ ...slept, to: newPlace })).held)
      },
      check: async (machine, last) => {
        assert.equal(last.agent.entries.get(uuid)?.hostLease.phase, 'held')
        await last.agent.moves.release(instance)
        await wakesHere(machine, last)
      },
    })
  })

  it('while it releases one: it sleeps and wakes', async () => {
    await dieEverywhere({
      prepare: async (machine) => {
        const scene = new MoveScene(machine, await Machine.make())
        await scene.asleep()
        await scene.hold()
        scene.oldLive.kill()
        await scene.oldLive.written()
        await scene.new.remove()
      },
      script: async (live) => {
        await live.agent.moves.release(instance)
      },
      check: async (machine, last) => {
        await wakesHere(machine, last)
      },
    })
  })

  it('while it fetches one: it is held at both hosts, and goes on from its memory at the new one', async () => {
    const deaths = await dieEverywhere({
      prepare: heldElsewhere,
      script: fetch,
      check: async (machine, last) => {
        const { scene } = otherOf(machine)
        assert.deepEqual(scene.phases()[0], 'held')
        assert.equal(last.agent.entries.get(uuid)?.hostLease.phase, 'held')
        await scene.oldLive.agent.moves.release(instance)
        scene.moveRow()
        await last.agent.moves.take(instance)
        await wakesHere(machine, last)
        await removeOthers()
      },
    })
    assert.ok(deaths > 20, String(deaths))
  })

  it('while it fetches one, and nobody asks again: nothing of it is here, or all of it', async () => {
    await dieEverywhere({
      prepare: heldElsewhere,
      script: fetch,
      next: async () => await Promise.resolve(),
      check: async (machine, last) => {
        const { scene } = otherOf(machine)
        assert.equal(permitOf(scene.oldLive.agent.entries.get(uuid)?.record), 2)
        const here = await readdir(join(machine.directory, 'instances'))
        const { record } = last.agent.entries.get(uuid) ?? {}
        assert.deepEqual(here, record === undefined ? [] : [uuid])
        assert.deepEqual(
          (await readdir(machine.directory)).filter((name) => name === 'arriving'),
          [],
        )
        if (record !== undefined) assert.deepEqual([record.move?.role, permitOf(record)], ['new', 2])
        assert.equal(machine.host.running(uuid), 0)
        await removeOthers()
      },
    })
  })

  for (const ends of ['take', 'start'] as const) {
    it(`in a ${ends} at the new host: it is there, and the old host never wakes it`, async () => {
      await dieEverywhere({
        prepare: async (machine) => await fetchedHere(machine),
        script: async (live) => {
          if (ends === 'take') await live.agent.moves.take(instance)
          else await live.agent.start({ ...instance, boot: 2 })
        },
        check: async (machine, last) => {
          const { scene } = otherOf(machine)
          // A death while the VM is restored may use its memory up, as in any wake.
          if (ends === 'take') await wakesHere(machine, last)
          else assert.equal((await new TestGateway(last).connect().opened()).boot, 2)
          assert.equal(machine.host.running(uuid), 1)
          const { entries } = scene.oldLive.agent
          assert.ok([undefined, 'held', 'none'].includes(entries.get(uuid)?.hostLease.phase))
          assert.equal(scene.old.host.running(uuid), 0)
          await removeOthers()
        },
      })
    })
  }

  it('in a start of what its old host lied about: nothing is launched from that', async () => {
    await dieEverywhere({
      prepare: async (machine) => await fetchedHere(machine, { memoryMb: 4_096, env: { EVIL: 'yes' } }),
      script: async (live) => {
        await live.agent.start({ ...instance, boot: 2 })
      },
      check: async (machine, last) => {
        const opened = await new TestGateway(last).connect().opened()
        assert.deepEqual([opened.boot, opened.memoryBoot], [2, 2])
        const { spec } = last.agent.entries.get(uuid)?.launch ?? {}
        const told = machine.specs.get(uuid)
        if (spec !== undefined) assert.deepEqual([spec.memoryMb, spec.env], [told?.memoryMb, told?.env])
        const snapshot = join(machine.directory, 'instances', uuid, 'snapshot')
        assert.equal(existsSync(snapshot), false)
        await removeOthers()
      },
    })
  })

  it('while it deletes what has moved: a repeat finds nothing or deletes it', async () => {
    await dieEverywhere({
      prepare: async (machine) => {
        const scene = new MoveScene(machine, await Machine.make())
        await scene.asleep()
        await scene.hold()
        scene.oldLive.kill()
        await scene.oldLive.written()
        await scene.new.remove()
      },
      script: async (live, machine) => {
        const entry = live.agent.entries.get(uuid)
        if (entry === undefined) return
        await seen('it may be fetched', () => machine.network.openedTo.size > 0)
        await live.agent.clear(instance)
      },
      check: async (machine, last) => {
        assert.equal(last.agent.entries.get(uuid)?.record, undefined)
        assert.deepEqual(await readdir(join(machine.directory, 'instances')), [])
        assert.equal(machine.network.attached.size, 0)
        await Promise.resolve()
      },
    })
  })
})
