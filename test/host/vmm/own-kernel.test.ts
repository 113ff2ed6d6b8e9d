import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { ExitCause } from '../../../src/domain/instance/exit-report.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'
import type { QemuVmm } from '../../../src/host/vmm/qemu-vmm.ts'
import type { VmSpec } from '../../../src/host/vmm/vmm.ts'
import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { exitOf } from './scene.ts'

describe('an image that brings its own kernel', () => {
  let bench: QemuBench
  let vmm: QemuVmm

  before(async () => {
    bench = await openQemuBench()
    vmm = bench.open()
  })
  after(async () => {
    await vmm.close()
    await bench.close()
  })

  /**
   * An image whose own kernel is a copy of the platform's. Its init waits for a configuration that never
   * comes.
   */
  async function ownKernel(kernelArgs: readonly string[], env: Record<string, string> = {}): Promise<VmSpec> {
    const spec = await bench.spec({ argv: ['shown', 'words'], env })
    const { kernelPath, initrdPath } = bench.context.assets
    const image = {
      kind: 'kernel',
      digest: 'sha256:0',
      kernelPath,
      initrdPath,
      command: [],
      env: [],
      labels: {},
    } as const
    return {
      ...spec,
      image: {
        ...image,
        kernelArgs: [
          'console=ttyS0',
          `tsc_early_khz=${bench.context.facts.tscKhz}`,
          'tsc=reliable',
          ...kernelArgs,
        ],
      },
    }
  }

  it('runs once its CPUs run, with the arguments and the environment of image and instance, which no process list shows', async () => {
    const spec = await ownKernel(['quick=1'], { TOKEN: 'hidden-from-ps' })
    await vmm.start(spec)
    const printed = await until(
      'it prints its command line',
      async () => {
        const text = await bench.consoleOf(spec)
        return /Command line: ([^\r\n]+)[\r\n]/.exec(text)?.[1]
      },
      { limitMs: 30_000 },
    )
    assert.match(printed, /quick=1 TOKEN=hidden-from-ps -- shown words/)
    const processArguments = await readFile(`/proc/${await bench.pidOf(spec, 'qemu')}/cmdline`, 'utf8')
    assert.doesNotMatch(processArguments, /hidden-from-ps/)
    await vmm.kill(spec, 'forced')
    await vmm.forget(spec)
  })

  it('is ended when it does not power off within its grace', async () => {
    const spec = await ownKernel([])
    await vmm.start(spec)
    await vmm.shutdown(spec, { graceMs: 300 })
    assert.partialDeepStrictEqual(await exitOf(vmm, spec), {
      cause: ExitCause.Forced,
      applicationStarted: true,
    })
    await vmm.forget(spec)
  })

  it('that resets or powers off by itself is a shutdown of the guest', async () => {
    const spec = await ownKernel(['rdinit=/no/such/init', 'panic=-1', 'reboot=t'])
    await vmm.start(spec)
    assert.equal((await exitOf(vmm, spec)).cause, ExitCause.GuestShutdown)
    await vmm.forget(spec)
  })

  it('always agrees to sleep, and goes on from its snapshot', async () => {
    const spec = await ownKernel(['panic=-1'])
    await vmm.start(spec)
    assert.equal(await vmm.askToSleep(spec), 'ready')
    await vmm.suspend(spec)
    const next = { ...spec, boot: 2, restore: true }
    assert.equal((await vmm.start(next)).kind, StartKind.Restore)
    await vmm.kill(next, 'forced')
    assert.partialDeepStrictEqual(await exitOf(vmm, next), {
      cause: ExitCause.Forced,
      applicationStarted: true,
    })
    await vmm.forget(next)
  })

  it('is refused a variable that its command line can not hold; the error has its name and not its value', async () => {
    const spec = await ownKernel([], { SECRET: 'two words' })
    await assert.rejects(vmm.start(spec), (error: Error & { failure?: string }) => {
      assert.equal(error.failure, 'ImageUnusable')
      assert.match(error.message, /variable SECRET/)
      assert.doesNotMatch(error.message, /two words/)
      return true
    })
  })
})
