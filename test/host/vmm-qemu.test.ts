import { until } from '../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { vmmConformance } from './vmm-conformance.ts'
import type { Behaviour } from './vmm-conformance.ts'

describe('the QEMU VMM', () => {
  let bench: QemuBench

  before(async () => {
    bench = await openQemuBench()
  })
  after(async () => {
    await bench.close()
  })

  vmmConformance(async () => {
    return await Promise.resolve({
      open: () => bench.open(),
      spec: async (behaviour) => await bench.spec({ argv: ['sh', '-c', scriptFor(behaviour)] }),
      untilReady: async (name) =>
        await until('it is deaf', async () => (await bench.consoleOf(name)).includes('deaf'), {
          limitMs: 10_000,
        }),
      untilEnded: async (name) =>
        await until('the VM ends', async () => await bench.eventOf(name, 'ended'), { limitMs: 20_000 }),
      loseVmm: async (_vmm, name) => {
        process.kill(await bench.pidOf(name, 'qemu'), 'SIGKILL')
      },
    })
  })
})

function scriptFor(behaviour: Behaviour): string {
  const { exitAfterMs, exitCode, signal, panic, listenAfterMs, ignoresShutdown } = behaviour
  if (ignoresShutdown === true) return 'trap "" TERM; echo deaf; while :; do sleep 0.1; done'
  if (listenAfterMs !== undefined) return `sleep ${listenAfterMs / 1000}; exec nc -l -p 8080`
  if (exitAfterMs === undefined) return 'exec sleep 1000000'
  const wait = `sleep ${exitAfterMs / 1000}`
  if (panic === true) return `${wait}; echo c > /proc/sysrq-trigger`
  if (signal !== undefined) return `${wait}; kill -${signal} $$`
  return `${wait}; exit ${exitCode ?? 0}`
}
