import { until } from '../../support/until.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { vmmConformance } from './conformance.ts'
import type { Behaviour, VmmWorld } from './scene.ts'
import { SmallDisk } from './small-disk.ts'
import { execConformance } from './exec-conformance.ts'
import { mirrorConformance } from './mirror-conformance.ts'
import { standbyConformance } from './standby-conformance.ts'
import { volumeConformance } from './volume-conformance.ts'
import { makeVolume } from './volume-file.ts'

describe('the QEMU VMM', () => {
  let bench: QemuBench
  let smallDisk: SmallDisk | undefined

  before(async () => {
    bench = await openQemuBench()
  })
  after(async () => {
    await smallDisk?.close()
    await bench.close()
  })

  /**
   * The disk of a scarce volume has 8 MB left. That is enough for what the guest's init writes to a volume,
   * and too little for the 24 MB that `scriptFor` writes.
   */
  async function volumeFor({ volume }: Behaviour) {
    if (volume === undefined) return {}
    // The image has files at the mount path.
    if (volume === 'unusable') return { volume: await makeVolume(bench.directory, { at: '/etc' }) }
    if (volume === 'usable') return { volume: await makeVolume(bench.directory) }
    await smallDisk?.close()
    smallDisk = await SmallDisk.open(48)
    const scarce = await makeVolume(smallDisk.directory, { sizeMb: 64 })
    await smallDisk.fillUp({ leavingMb: 8 })
    return { volume: scarce }
  }

  const makeWorld = async () =>
    await Promise.resolve({
      open: () => bench.open(),
      spec: async (behaviour) =>
        await bench.spec({ argv: ['sh', '-c', scriptFor(behaviour)], ...(await volumeFor(behaviour)) }),
      untilReady: async (name) =>
        await until('it is deaf', async () => (await bench.consoleOf(name)).includes('deaf'), {
          limitMs: 30_000,
        }),
      untilEnded: async (name) =>
        await until('the VM ends', async () => await bench.eventOf(name, 'ended'), { limitMs: 20_000 }),
      loseVmm: async (_vmm, name) => {
        process.kill(await bench.pidOf(name, 'qemu'), 'SIGKILL')
      },
      makeRoom: async () => await smallDisk?.makeRoom(),
    } satisfies VmmWorld)
  vmmConformance(makeWorld)
  standbyConformance(makeWorld)
  execConformance(makeWorld)
  volumeConformance(makeWorld)
  mirrorConformance(makeWorld)
})

function scriptFor(behaviour: Behaviour): string {
  const { exitAfterMs, exitCode, signal, panic, listenAfterMs, ignoresShutdown, disabledAfterMs } = behaviour
  const goOn = 'exec sleep 1000000'
  if (behaviour.volume === 'scarce')
    return `dd if=/dev/urandom of=/data/big bs=1M count=24 conv=fsync; ${goOn}`
  if (disabledAfterMs !== undefined)
    return `sleep ${disabledAfterMs / 1000}; echo + > $ROOST_SCALE_TO_ZERO_FILE; ${goOn}`
  if (ignoresShutdown === true) return 'trap "" TERM; echo deaf; while :; do sleep 0.1; done'
  if (listenAfterMs !== undefined) return `sleep ${listenAfterMs / 1000}; exec nc -l -p 8080`
  if (exitAfterMs === undefined) return goOn
  const wait = `sleep ${exitAfterMs / 1000}`
  if (panic === true) return `${wait}; echo c > /proc/sysrq-trigger`
  if (signal !== undefined) return `${wait}; kill -${signal} $$`
  return `${wait}; exit ${exitCode ?? 0}`
}
