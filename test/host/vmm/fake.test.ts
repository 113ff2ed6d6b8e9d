import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { FakeVms } from '../../../src/host/fakes/fake-vms.ts'
import { FakeVmm } from '../../../src/host/fakes/fake-vmm.ts'
import { vmmConformance } from './conformance.ts'
import { memoryConformance, memoryForTwo } from './memory-conformance.ts'
import type { Behaviour, VmmWorld } from './scene.ts'
import { execConformance } from './exec-conformance.ts'
import { mirrorConformance } from './mirror-conformance.ts'
import { standbyConformance } from './standby-conformance.ts'
import { volumeConformance } from './volume-conformance.ts'
import { until } from '../../support/until.ts'
import { vmSpec } from './spec.ts'

describe('the fake VMM', () => {
  const vms = new FakeVms()
  let directory: string

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-fake-vmm-'))
  })
  after(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  const makeWorld = async () =>
    await Promise.resolve({
      open: () => new FakeVmm({ vms }),
      spec: async (behaviour) =>
        await vmSpec({
          directory,
          instanceUuid: randomUUID(),
          rootfsPath: '/dev/null',
          argv: argumentsFor(behaviour),
          ...(behaviour.volume === undefined
            ? {}
            : { volume: { uuid: randomUUID(), at: '/data', readonly: false } }),
        }),
      untilReady: async () => await Promise.resolve(),
      untilEnded: async (name) => await until('the VM ends', () => vms.find(name)?.exit, { limitMs: 20_000 }),
      loseVmm: async (_vmm, name) => {
        await Promise.resolve(vms.end(name, { cause: ExitCause.VmmLost }))
      },
      makeRoom: async (name) => await Promise.resolve(vms.setStalled(name, false)),
    } satisfies VmmWorld)
  vmmConformance(makeWorld)
  standbyConformance(makeWorld)
  execConformance(makeWorld)
  volumeConformance(makeWorld)
  mirrorConformance(makeWorld)
  memoryConformance(async () => ({
    ...(await makeWorld()),
    open: () => new FakeVmm({ vms, memory: memoryForTwo }),
  }))

  it('fails the suspension, the match and the restore of a snapshot as it is told, and then starts afresh', async () => {
    const own = new FakeVms()
    const failing = new FakeVmm({ vms: own, failSuspend: 1, failRestore: 1 })
    const spec = await vmSpec({ directory, instanceUuid: randomUUID(), rootfsPath: '/dev/null', argv: ['x'] })
    await failing.start(spec)
    await assert.rejects(failing.suspend(spec), { name: 'VmmError' })
    assert.equal(own.running(), 1)
    await failing.suspend(spec)
    assert.equal((await failing.start({ ...spec, boot: 2, restore: true })).kind, StartKind.Boot)
    await failing.suspend({ ...spec, boot: 2 })
    const upgraded = new FakeVmm({ vms: own, unfitSnapshots: true })
    assert.equal((await upgraded.start({ ...spec, boot: 3, restore: true })).kind, StartKind.Boot)
  })

  it('fails the start it is told to fail', async () => {
    const vmm = new FakeVmm({ failStart: 1 })
    const spec = await vmSpec({ directory, instanceUuid: randomUUID(), rootfsPath: '/dev/null', argv: ['x'] })
    await assert.rejects(vmm.start(spec), { failure: 'BootFailed' })
    await vmm.start(spec)
  })
})

function argumentsFor(behaviour: Behaviour): readonly string[] {
  const { exitAfterMs, exitCode, signal, panic, listenAfterMs, ignoresShutdown, disabledAfterMs } = behaviour
  const { volume } = behaviour
  return [
    'application',
    ...(exitAfterMs === undefined ? [] : [`exit-after=${exitAfterMs}`]),
    ...(exitCode === undefined ? [] : [`exit-code=${exitCode}`]),
    ...(signal === undefined ? [] : [`signal=${signal}`]),
    ...(panic === true ? ['panic'] : []),
    ...(listenAfterMs === undefined ? [] : [`listen-after=${listenAfterMs}`]),
    ...(disabledAfterMs === undefined ? [] : [`disabled-after=${disabledAfterMs}`]),
    ...(ignoresShutdown === true ? ['ignore-shutdown'] : []),
    ...(volume === 'unusable' ? ['volume-unusable'] : []),
    ...(volume === 'scarce' ? ['stalled'] : []),
  ]
}
