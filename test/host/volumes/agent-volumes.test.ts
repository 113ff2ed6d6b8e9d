import assert from 'node:assert/strict'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { HostVolumes } from '../../../src/host/volumes/host-volumes.ts'
import { readConsole } from '../../../src/host/console/console-reader.ts'
import { seen } from '../leases/gateway.ts'
import { Machine, otherUuid, uuid, volumeUuid } from '../agent/machine.ts'
import type { LiveAgent } from '../agent/machine.ts'
import { WatchedVolumes } from './agent-volume-watch.ts'

const boot = { instanceUuid: uuid, boot: 1 }
const otherBoot = { instanceUuid: otherUuid, boot: 1 }
const forced = { forced: true, graceMs: 0 } as const
const gentle = { forced: false, graceMs: 1_000 } as const

function failsWith(failure: HostFailure, message?: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof HostStartError, String(error))
    assert.equal(error.failure, failure)
    if (message !== undefined) assert.match(error.message, message)
    return true
  }
}

describe('an instance with a volume', () => {
  let machine: Machine
  let live: LiveAgent

  beforeEach(async () => {
    machine = await Machine.make()
    machine.attach(uuid)
    live = await machine.readyAgent()
  })
  afterEach(async () => {
    live.kill()
    await live.written()
    await machine.remove()
  })

  async function nextAgent(): Promise<void> {
    live.kill()
    await live.written()
    live = await machine.readyAgent()
  }

  async function consoleText(): Promise<string> {
    const window = { offset: 0, limit: 10_000 }
    const { outputBase64 } = await readConsole(live.ports.store.consoleDirectory(uuid), window)
    return Buffer.from(outputBase64, 'base64').toString()
  }

  function holder(): string | undefined {
    return machine.volumes.held.get(volumeUuid)
  }

  describe('starting', () => {
    it('has the volume made if that was not done yet, and gets it at its mount path', async () => {
      machine.attach(uuid, { at: '/srv/data', readonly: true, sizeMb: 64 })
      await live.agent.start(boot)
      assert.deepEqual(machine.volumes.made.get(volumeUuid), { sizeMb: 64 })
      assert.equal(holder(), uuid)
      assert.deepEqual(machine.volumeEvents, [{ kind: 'made', volumeUuid }])
      const { checkAfresh, path, ...volume } = machine.host.find(boot)?.spec.volume ?? {}
      assert.deepEqual(volume, { uuid: volumeUuid, at: '/srv/data', readonly: true })
      assert.equal(path, machine.volumes.contentOf(volumeUuid))
      assert.equal(checkAfresh, undefined)
    })

    it('finds what it wrote the next time', async () => {
      await live.agent.start(boot)
      await live.agent.stop({ ...boot, ...forced })
      machine.attach(uuid, { made: true })
      await live.agent.start({ ...boot, boot: 2 })
      assert.equal(machine.volumes.calls.filter((call) => call.startsWith('make')).length, 1)
      assert.equal(machine.volumes.checked.length, 2)
    })

    for (const [what, harm] of [
      ['gone', () => machine.volumes.gone.add(volumeUuid)],
      ['damaged', () => machine.volumes.damaged.add(volumeUuid)],
    ] as const) {
      it(`fails for good where it is ${what}, and its workflow hears of that first`, async () => {
        machine.attach(uuid, { made: true })
        await machine.volumes.make({ uuid: volumeUuid, sizeMb: 100 })
        harm()
        const start = live.agent.start(boot).catch((error: unknown) => {
          assert.equal(machine.volumeEvents.length, 1)
          throw error
        })
        await assert.rejects(start, failsWith(HostFailure.VolumeUnusable, new RegExp(what)))
        const [told] = machine.volumeEvents
        assert.ok(told?.kind === 'damaged' && told.volumeUuid === volumeUuid)
        assert.match(told.reason, new RegExp(what))
        assert.match(await consoleText(), new RegExp(`could not start: .*${what}`))
        assert.equal(machine.host.starts, 0)
        assert.equal(holder(), undefined)
        assert.equal(machine.network.attached.size, 0)
      })
    }

    it('reports damage later if it can not be reported now, and only until it was', async () => {
      await machine.volumes.make({ uuid: volumeUuid, sizeMb: 100 })
      machine.volumes.damaged.add(volumeUuid)
      machine.attach(uuid, { made: true })
      machine.failVolumeEvents = true
      await assert.rejects(live.agent.start(boot), failsWith(HostFailure.VolumeUnusable))
      assert.deepEqual(machine.volumeEvents, [])
      machine.failVolumeEvents = false
      await live.agent.check()
      await live.agent.check()
      assert.equal(machine.volumeEvents.length, 1)
    })

    it('can be tried again if there is no room for the volume', async () => {
      machine.volumes = new WatchedVolumes(machine, { totalMb: 10 })
      await nextAgent()
      await assert.rejects(live.agent.start(boot), failsWith(HostFailure.HostFull))
      assert.deepEqual(machine.volumeEvents, [])
      machine.attach(uuid, { sizeMb: 10 })
      await live.agent.start(boot)
    })

    it('prepares the rest beside the volume, and leaves nothing when it is given up meanwhile', async () => {
      machine.volumes = new WatchedVolumes(machine, { hang: ['hold'] })
      await nextAgent()
      const start = live.agent.start(boot)
      await seen('its address is there', () => machine.network.attached.size === 1)
      await live.agent.abandon(boot)
      await assert.rejects(start)
      assert.equal(machine.network.attached.size, 0)
      assert.equal(holder(), undefined)
    })

    it('waits for an instance that is ending and still has the volume', async () => {
      machine.attach(otherUuid)
      await live.agent.start(otherBoot)
      const start = live.agent.start(boot)
      await seen('it was refused', () => machine.volumes.refused > 0)
      assert.equal(machine.host.running(uuid), 0)
      await live.agent.remove({ instanceUuid: otherUuid })
      await start
      assert.equal(holder(), uuid)
      assert.equal(machine.host.running(), 1)
    })

    it('waits no longer than its limit, and may be tried again', async () => {
      machine.attach(otherUuid)
      await live.agent.start(otherBoot)
      const impatient = new HostVolumes(live.ports, { heldLimitMs: 20 })
      const volume = { uuid: volumeUuid, sizeMb: 100, made: true, at: '/data', readonly: false }
      const by = { instanceUuid: uuid, continues: false }
      await assert.rejects(impatient.hold(volume, by, new AbortController().signal), {
        failure: 'VolumeInUse',
      })
      assert.equal(holder(), otherUuid)
    })

    it('gives back the volume that the instance had before', async () => {
      await live.agent.start(boot)
      machine.volumes.failRelease = true
      await live.agent.stop({ ...boot, ...forced })
      assert.equal(holder(), uuid)
      machine.volumes.failRelease = false
      machine.attach(uuid, { uuid: '00000000-0000-4000-8000-00000000000e' })
      await live.agent.start({ ...boot, boot: 2 })
      assert.deepEqual([...machine.volumes.held.keys()], ['00000000-0000-4000-8000-00000000000e'])
    })
  })

  describe('that could not start', () => {
    it('leaves its volume free when its image fails', async () => {
      const failing = await machine.readyAgent({
        images: { fail: { nth: 1, failure: HostFailure.ImageUnavailable } },
      })
      await assert.rejects(failing.agent.start(boot), failsWith(HostFailure.ImageUnavailable))
      assert.equal(holder(), undefined)
      failing.kill()
    })

    it('leaves its volume free when its VM fails', async () => {
      const failing = await machine.readyAgent({ vmm: { failStart: 1 } })
      await assert.rejects(failing.agent.start(boot), failsWith(HostFailure.BootFailed))
      assert.equal(holder(), undefined)
      failing.kill()
    })

    it('because the guest can not mount it, is no damage', async () => {
      machine.runs('volume-unusable')
      await assert.rejects(live.agent.start(boot), failsWith(HostFailure.VolumeUnusable))
      assert.deepEqual(
        machine.volumeEvents.map(({ kind }) => kind),
        ['made'],
      )
      assert.equal(holder(), undefined)
    })
  })

  describe('ending', () => {
    for (const [how, end] of [
      ['by itself', async () => await endItself()],
      ['by a stop', async () => await live.agent.stop({ ...boot, ...gentle })],
      ['by force', async () => await live.agent.stop({ ...boot, ...forced })],
      ['for good', async () => await live.agent.remove({ instanceUuid: uuid })],
      ['with the platform', async () => await live.halt()],
    ] as const) {
      it(`${how} leaves its volume free`, async () => {
        await live.agent.start(boot)
        assert.equal(holder(), uuid)
        await end()
        assert.equal(holder(), undefined)
      })
    }

    async function endItself(): Promise<void> {
      machine.host.end(boot, { cause: 'guest', exitCode: 0 })
      await seen('the volume is free', () => holder() === undefined)
    }

    it('is repeated if the volume could not be given back', async () => {
      await live.agent.start(boot)
      machine.volumes.failRelease = true
      await live.agent.stop({ ...boot, ...forced })
      assert.equal(holder(), uuid)
      await assert.rejects(live.agent.check())
      machine.volumes.failRelease = false
      await live.agent.check()
      assert.equal(holder(), undefined)
    })
  })

  it('is not removed before its volume is free', async () => {
    await live.agent.start(boot)
    machine.volumes.failRelease = true
    await assert.rejects(live.agent.remove({ instanceUuid: uuid }), /a disk that fails/)
    machine.volumes.failRelease = false
    await live.agent.remove({ instanceUuid: uuid })
    assert.equal(holder(), undefined)
  })

  describe('after the death of the agent before', () => {
    it('has its volume as long as it runs, and no longer', async () => {
      await live.agent.start(boot)
      await nextAgent()
      assert.equal(holder(), uuid)
      await live.agent.stop({ ...boot, ...forced })
      assert.equal(holder(), undefined)
    })

    it('leaves its volume free if it ended meanwhile', async () => {
      await live.agent.start(boot)
      live.kill()
      machine.host.end(boot, { cause: 'guest', exitCode: 0 })
      await nextAgent()
      assert.equal(holder(), undefined)
    })

    it('leaves its volume free if the machine died', async () => {
      await live.agent.start(boot)
      machine.bootId = 'boot-2'
      machine.host.reboot()
      await nextAgent()
      assert.equal(holder(), undefined)
    })

    it('is found while it starts: its file system is left alone', async () => {
      const slow = await machine.readyAgent({ vmm: { bootMs: 50 } })
      void slow.agent.start(boot).catch(() => undefined)
      await machine.host.firstVm()
      slow.kill()
      assert.equal(machine.volumes.checked.length, 1)
      await nextAgent()
      assert.equal(holder(), uuid)
      await live.agent.start(boot)
      assert.equal(machine.volumes.checked.length, 1)
      assert.equal(machine.host.starts, 1)
    })

    it('gets its volume back if the hold was lost', async () => {
      await live.agent.start(boot)
      live.kill()
      machine.volumes.held.clear()
      await nextAgent()
      assert.equal(holder(), uuid)
      assert.equal(machine.volumes.checked.length, 1)
    })

    for (const [whose, instanceUuid] of [
      ['of an instance that is not here', otherUuid],
      ['that can not be read', 'unknown'],
    ] as const) {
      it(`a hold ${whose} is over`, async () => {
        await machine.volumes.make({ uuid: volumeUuid, sizeMb: 1 })
        const hold = { uuid: volumeUuid, instanceUuid, readonly: false, continues: true }
        await machine.volumes.hold(hold)
        await nextAgent()
        await live.agent.start(boot)
        assert.equal(holder(), uuid)
      })
    }
  })
})
