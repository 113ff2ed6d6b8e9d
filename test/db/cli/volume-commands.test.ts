import { strict as assert } from 'node:assert'
import type { CliDeps } from '../../../src/cli/cli-deps.ts'
import { runCli } from '../../../src/cli/program.ts'
import { ControlUnavailable } from '../../../src/control/control-unavailable.ts'
import { VolumeGone } from '../../../src/control/volume-control.ts'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { VolumePhase } from '../../../src/domain/volume/state.ts'
import type { VolumeSettings } from '../../../src/domain/volume/settings.ts'
import { volumeRecords } from '../../support/volume-records.ts'

describe('the roost command of volumes', () => {
  const records = volumeRecords()
  let repaired: VolumeSettings[] = []
  let repairFails: Error | undefined
  let drainUntilMs: number | undefined
  beforeEach(() => {
    repaired = []
    repairFails = undefined
    drainUntilMs = undefined
  })

  async function roost(...args: readonly string[]) {
    let out = ''
    let notes = ''
    const deps: CliDeps = {
      write: (text) => void (out += text),
      note: (text) => void (notes += text),
      withDatabase: (work) => work(records.database()),
      withControl: (work) =>
        work({
          autoscales: { seen: () => assert.fail() },
          instances: { drainUntilMs: async () => drainUntilMs, hostGone: () => assert.fail() },
          certificates: { retry: () => assert.fail() },
          volumes: {
            async repair(settings) {
              if (repairFails !== undefined) throw repairFails
              repaired.push(settings)
            },
            hostGone: () => assert.fail(),
          },
        }),
      readHostLease: async () => undefined,
      images: { store: async ({ name }) => ({ reference: name, digest: 'sha256:0' }) },
      doctor: async () => ({ ok: true, checks: [] }),
      platform: { dataDir: '/nowhere', halt: () => assert.fail() },
      domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
      authority: { file: undefined, metroDomain: 'roost.localhost', customDomains: () => assert.fail() },
    }
    const code = await runCli(args, deps)
    return { code, out, notes }
  }

  it('lists those of every user or of one, with why they can not be used, and those that are being deleted', async () => {
    const ann = await records.newUser()
    const bob = await records.newUser()
    const broken = await records.available(ann, { name: 'broken' })
    await records.tell(broken, VolumePhase.Error, 'its file is gone')
    const going = await records.available(bob, { name: 'going' })
    await records.remove(bob, going)
    const { out } = await roost('volume', 'list')
    assert.match(out, /^NAME +UUID +USER +HOST +SIZE MB +STATE +INSTANCE +WHY\n/)
    assert.match(out, /\nbroken +[-0-9a-f]{36} +\S+ +local +16 +error +- +its file is gone\n/)
    assert.match(out, /\ngoing +[-0-9a-f]{36} +\S+ +local +16 +deleting +- +-\n/)
    const [of] = JSON.parse((await roost('volume', 'list', '--json')).out) as { userName: string }[]
    const own = await roost('volume', 'list', '--user', String(of?.userName))
    assert.match(own.out, /\nbroken /)
    assert.doesNotMatch(own.out, /\ngoing /)
  })

  it('asks for the repair of a volume by name or UUID', async () => {
    const user = await records.newUser()
    const volume = await records.available(user, { name: 'mend-me' })
    for (const wanted of ['mend-me', 'Mend-Me', volume.uuid]) {
      const { code, out } = await roost('volume', 'repair', wanted)
      assert.deepEqual([code, repaired.at(-1)?.volumeUuid], [0, volume.uuid])
      assert.match(out, /^host local checks and mends mend-me now; `roost admin explain /)
    }
    assert.equal(repaired[0]?.recorded?.phase, VolumePhase.Ready)
  })

  it('refuses to repair a volume that an instance uses, that is being deleted or that does not exist', async () => {
    const user = await records.newUser()
    const used = await records.available(user, { name: 'used' })
    const instance = await records.instance(user)
    assert.ok((await records.attach(user, used, instance)).ok)
    assert.equal((await roost('volume', 'repair', 'used')).code, 0)
    await records.tellInstance(instance, InstanceState.Running)
    const gone = await records.available(user)
    await records.remove(user, gone)
    repaired = []
    for (const [wanted, message] of [
      ['used', new RegExp(`in use by instance '${instance.name}': stop that first`)],
      [gone.uuid, /is being deleted/],
      ['nothing', /there is no volume 'nothing'/],
    ] as const) {
      const { code, notes } = await roost('volume', 'repair', wanted)
      assert.equal(code, 1, wanted)
      assert.match(notes, message)
    }
    assert.deepEqual(repaired, [])
  })

  it('says if the control plane does not answer, or the volume is gone meanwhile', async () => {
    const user = await records.newUser()
    const { uuid } = await records.available(user)
    repairFails = new ControlUnavailable('nobody answers')
    assert.match((await roost('volume', 'repair', uuid)).notes, /is the stack running\?/)
    repairFails = new VolumeGone(uuid)
    assert.match((await roost('volume', 'repair', uuid)).notes, /is deleted/)
  })

  it('explains a volume, and an instance with the trouble of its volume', async () => {
    const user = await records.newUser()
    const volume = await records.available(user, { name: 'store' })
    assert.match((await roost('explain', 'store')).out, /^store is available: no instance has it\.\nnext: /)
    const instance = await records.instance(user, { name: 'till' })
    await records.attach(user, volume, instance)
    assert.match((await roost('explain', volume.uuid)).out, /^store is attached to till, which is stopped\./)
    assert.doesNotMatch((await roost('explain', 'till')).out, /store/)
    await records.tell(volume, VolumePhase.Error, 'its file is gone')
    const { out } = await roost('explain', 'till')
    assert.match(
      out,
      /^till is stopped.*\nnext: .*\nits volume: store can not be used as it is\.\nnext: .*repair store/,
    )
    assert.match(out, /\nthe last try failed: its file is gone\n$/)
  })

  it('explains a drain with its deadline, which only the workflow has', async () => {
    const user = await records.newUser()
    const instance = await records.instance(user, { name: 'drainer' })
    await records.tellInstance(instance, InstanceState.Draining)
    drainUntilMs = Date.parse('2030-01-01T10:00:00Z')
    assert.match((await roost('explain', 'drainer')).out, /at the latest at 2030-01-01T10:00:00\.000Z\n$/)
  })
})
