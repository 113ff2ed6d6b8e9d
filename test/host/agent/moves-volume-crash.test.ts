import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { GarbageSweep } from '../../../src/host/agent/garbage-sweep.ts'
import { TestGateway } from '../leases/gateway.ts'
import { dieEverywhere } from './death.ts'
import { Machine, uuid, volumeUuid } from './machine.ts'
import type { LiveAgent } from './machine.ts'
import { instance, MoveScene, newPlace, oldPlace, precious, slept, smallVolume } from './move-scene.ts'

/** The other host of each timeline, with the port at which it lets the instance be fetched. */
const others = new WeakMap<Machine, { readonly scene: MoveScene; readonly port: number }>()
/** The scenes of all timelines that are to be removed. The last one has no death, so nobody checks it. */
const scenes = new Set<MoveScene>()

const stopped = { boot: 1 }
const stop = { ...instance, boot: 1, forced: false, graceMs: 0 }
const volume = { uuid: volumeUuid, sizeMb: smallVolume.sizeMb }

type Rest = 'asleep' | 'stopped'

async function rest(scene: MoveScene, how: Rest): Promise<void> {
  if (how === 'asleep') return await scene.asleep()
  await scene.makeVolume()
  const { agent } = await scene.openOld()
  await agent.start({ ...instance, boot: 1 })
  await agent.stop(stop)
}

const restOf = (how: Rest) => (how === 'asleep' ? { boot: slept.boot, permit: slept.permit } : stopped)

/** The machine is the old host. */
async function oldScene(machine: Machine): Promise<MoveScene> {
  machine.attach(uuid, smallVolume)
  const other = await Machine.make()
  const scene = new MoveScene(machine, other)
  others.set(machine, { scene, port: 0 })
  return scene
}

/** The machine is the new host, and the other one holds the instance. */
async function heldElsewhere(machine: Machine, how: Rest): Promise<MoveScene> {
  const other = await Machine.make()
  other.attach(uuid, smallVolume)
  const scene = new MoveScene(other, machine)
  scenes.add(scene)
  await rest(scene, how)
  others.set(machine, { scene, port: await scene.hold(restOf(how)) })
  return scene
}

function otherOf(machine: Machine): { readonly scene: MoveScene; readonly port: number } {
  const other = others.get(machine)
  assert.ok(other !== undefined)
  return other
}

async function fetch(live: LiveAgent, machine: Machine, how: Rest): Promise<void> {
  const from = { ...oldPlace, port: otherOf(machine).port }
  const fetched = await live.agent.moves.fetch({ ...instance, ...restOf(how), volume, from })
  assert.equal(fetched.volumeUuid, volumeUuid)
}

async function fetchedHere(machine: Machine, how: Rest): Promise<void> {
  const scene = await heldElsewhere(machine, how)
  await scene.openNew()
  await fetch(scene.newLive, machine, how)
  scene.moveRow()
  scene.newLive.kill()
  await scene.newLive.written()
}

async function sweep(live: LiveAgent, listed: readonly string[] = []): Promise<void> {
  const instances = listed.map((each) => ({ uuid: each, state: 'standby' as const }))
  const list = async () => await Promise.resolve({ instances })
  await new GarbageSweep({ agent: live.agent, ports: live.ports, list }).sweep({ wasLost: true })
}

async function isWhole({ volumes }: Machine): Promise<void> {
  assert.ok(volumes.made.has(volumeUuid))
  const content = await readFile(volumes.contentOf(volumeUuid))
  assert.equal(content.toString('latin1', 700_000, 700_000 + precious.length), precious)
}

async function removeOthers(): Promise<void> {
  for (const { oldLive, old } of scenes) {
    oldLive.kill()
    await old.remove()
  }
  scenes.clear()
}

describe('an agent that is killed anywhere in a move with a volume', function () {
  this.timeout(300_000)
  afterEach(removeOthers)

  for (const how of ['asleep', 'stopped'] as const) {
    it(`while it holds one that is ${how}: both are held, and the volume is whole and free once released`, async () => {
      const deaths = await dieEverywhere({
        prepare: async (machine) => {
          const scene = await oldScene(machine)
          await rest(scene, how)
          scene.oldLive.kill()
          await scene.oldLive.written()
          await scene.new.remove()
        },
        script: async (live) => {
          const held = { ...instance, ...restOf(how), volume, to: newPlace }
          assert.ok((await live.agent.moves.hold(held)).held)
        },
        check: async (machine, last) => {
          assert.equal(machine.volumes.held.get(volumeUuid), uuid)
          assert.equal(last.agent.entries.get(uuid)?.record?.move?.role, 'old')
          await last.agent.check()
          assert.equal(machine.volumes.held.get(volumeUuid), uuid)
          await last.agent.moves.release(instance)
          assert.equal(machine.volumes.held.has(volumeUuid), how === 'asleep')
          await last.agent.start({ ...instance, boot: 2 })
          await isWhole(machine)
        },
      })
      assert.ok(deaths > 10, String(deaths))
    })

    it(`while it fetches one that is ${how}: it is whole at the old host, and at the new one once taken`, async () => {
      const deaths = await dieEverywhere({
        prepare: async (machine) => void (await heldElsewhere(machine, how)),
        script: async (live, machine) => await fetch(live, machine, how),
        check: async (machine, last) => {
          const { scene } = otherOf(machine)
          await isWhole(scene.old)
          assert.deepEqual([machine.volumes.made.size, machine.volumes.waiting.size], [0, 1])
          scene.moveRow()
          await last.agent.moves.take(instance)
          await isWhole(machine)
          await scene.oldHasNothing()
          assert.equal(scene.old.volumes.made.size, 0)
          if (how === 'stopped') await last.agent.start({ ...instance, boot: 2 })
          else assert.equal((await new TestGateway(last).connect().opened()).memoryBoot, 1)
          assert.equal(machine.volumes.held.get(volumeUuid), uuid)
          await removeOthers()
        },
      })
      assert.ok(deaths > 20, String(deaths))
    })

    it(`while it fetches one that is ${how}, and the move fails: nothing is here after the sweep`, async () => {
      await dieEverywhere({
        prepare: async (machine) => void (await heldElsewhere(machine, how)),
        script: async (live, machine) => await fetch(live, machine, how),
        next: async (live, machine) => {
          const { scene } = otherOf(machine)
          await sweep(live)
          await scene.oldLive.agent.moves.release(instance)
          await sweep(live)
        },
        check: async (machine, last) => {
          const { volumes } = machine
          assert.deepEqual([volumes.made.size, volumes.waiting.size], [0, 0])
          assert.equal(last.agent.entries.get(uuid)?.record, undefined)
          const { scene } = otherOf(machine)
          await isWhole(scene.old)
          await removeOthers()
        },
      })
    })

    for (const ends of ['take', 'start', 'stop'] as const)
      it(`in a ${ends} at the new host of one that is ${how}: it is whole there, and nowhere else`, async () => {
        await dieEverywhere({
          prepare: async (machine) => await fetchedHere(machine, how),
          script: async (live) => {
            const { agent } = live
            if (ends === 'take') await agent.moves.take(instance)
            else if (ends === 'start') await agent.start({ ...instance, boot: 2 })
            else await agent.stop({ ...stop, boot: how === 'asleep' ? 2 : 1 })
          },
          check: async (machine, last) => {
            await isWhole(machine)
            const { scene } = otherOf(machine)
            // The message that it was taken may be lost with the agent.
            await sweep(scene.oldLive)
            assert.deepEqual([scene.old.volumes.made.size, scene.old.volumes.overwritten], [0, [volumeUuid]])
            const boot = ends === 'stop' && how === 'asleep' ? 3 : 2
            await last.agent.start({ ...instance, boot })
            assert.equal(machine.volumes.held.get(volumeUuid), uuid)
            await removeOthers()
          },
        })
      })

    it(`while it deletes one that was ${how} and has moved: the sweep finds nothing or deletes it`, async () => {
      await dieEverywhere({
        prepare: async (machine) => {
          const scene = await oldScene(machine)
          await rest(scene, how)
          await scene.hold(restOf(how))
          scene.moveRow()
          scene.oldLive.kill()
          await scene.oldLive.written()
          await scene.new.remove()
        },
        script: async (live) => await sweep(live),
        check: async ({ volumes }, last) => {
          assert.equal(last.agent.entries.get(uuid)?.record, undefined)
          assert.deepEqual([volumes.made.size, volumes.held.size, volumes.overwritten], [0, 0, [volumeUuid]])
          await Promise.resolve()
        },
      })
    })
  }
})
