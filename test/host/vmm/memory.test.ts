import assert from 'node:assert/strict'
import { footprintMb } from '../../../src/domain/host/memory-room.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'
import { memoryConformance, memoryForTwo } from './memory-conformance.ts'
import type { VmmWorld } from './scene.ts'

const forever = ['sh', '-c', 'exec sleep 1000000']

describe('the memory of a host under the QEMU VMM', () => {
  let bench: QemuBench

  before(async () => {
    bench = await openQemuBench()
  })
  after(async () => {
    await bench.close()
  })

  const unused = async () => await Promise.reject(new Error('not part of this suite'))
  memoryConformance(
    async () =>
      await Promise.resolve({
        open: () => bench.open({ memory: memoryForTwo }),
        spec: async () => await bench.spec({ argv: forever }),
        loseVmm: unused,
        untilReady: unused,
        untilEnded: unused,
        makeRoom: unused,
      } satisfies VmmWorld),
  )

  it('goes to a start before it goes to a template, and no template is made from memory that is promised', async () => {
    const templates = bench.templates()
    const vmm = bench.open({ memory: memoryForTwo, templates })
    const specs = [await bench.spec({ argv: forever }), await bench.spec({ argv: forever })]
    try {
      await vmm.start(specs[0]!)
      await templates.settled()
      const held = vmm.memory()?.templatesMb ?? 0
      assert.ok(held > 20 && held < 96, `a template holds what its guest touched: ${held} MiB`)
      await vmm.start(specs[1]!)
      await templates.settled()
      assert.partialDeepStrictEqual(vmm.memory(), { instancesMb: 2 * footprintMb(128), templatesMb: 0 })
      assert.deepEqual(bench.problems, [])
    } finally {
      for (const spec of specs) await vmm.kill(spec, 'forced')
      for (const spec of specs) await vmm.forget(spec)
      await vmm.close()
    }
  })
})
