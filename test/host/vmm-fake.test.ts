import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { ExitCause } from '../../src/domain/exit-report.ts'
import { FakeHost } from '../../src/host/vmm/fake-host.ts'
import { FakeVmm } from '../../src/host/vmm/fake-vmm.ts'
import { vmmConformance } from './vmm-conformance.ts'
import type { Behaviour } from './vmm-conformance.ts'
import { until } from '../support/until.ts'
import { vmSpec } from './vmm-spec.ts'

describe('the fake VMM', () => {
  const host = new FakeHost()
  let directory: string

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'roost-fake-vmm-'))
  })
  after(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  vmmConformance(async () => {
    return await Promise.resolve({
      open: () => new FakeVmm({ host }),
      spec: async (behaviour) =>
        await vmSpec({
          directory,
          instanceUuid: randomUUID(),
          rootfsPath: '/dev/null',
          argv: argumentsFor(behaviour),
        }),
      untilReady: async () => await Promise.resolve(),
      untilEnded: async (name) => await until('the VM ends', () => host.find(name)?.exit, { limitMs: 5_000 }),
      loseVmm: async (_vmm, name) => {
        await Promise.resolve(host.end(name, { cause: ExitCause.VmmLost }))
      },
    })
  })

  it('fails the start it is told to fail', async () => {
    const vmm = new FakeVmm({ failStart: 1 })
    const spec = await vmSpec({ directory, instanceUuid: randomUUID(), rootfsPath: '/dev/null', argv: ['x'] })
    await assert.rejects(vmm.start(spec), { failure: 'BootFailed' })
    await vmm.start(spec)
  })
})

function argumentsFor(behaviour: Behaviour): readonly string[] {
  const { exitAfterMs, exitCode, signal, panic, listenAfterMs, ignoresShutdown } = behaviour
  return [
    'application',
    ...(exitAfterMs === undefined ? [] : [`exit-after=${exitAfterMs}`]),
    ...(exitCode === undefined ? [] : [`exit-code=${exitCode}`]),
    ...(signal === undefined ? [] : [`signal=${signal}`]),
    ...(panic === true ? ['panic'] : []),
    ...(listenAfterMs === undefined ? [] : [`listen-after=${listenAfterMs}`]),
    ...(ignoresShutdown === true ? ['ignore-shutdown'] : []),
  ]
}
