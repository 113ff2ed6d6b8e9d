import assert from 'node:assert/strict'
import path from 'node:path'
import { startByHand } from '../../../bench/by-hand.ts'
import type { HandStart } from '../../../bench/by-hand.ts'
import { HandVm, prepareHandNetwork, removeHandNetwork } from '../../../bench/hand-vm.ts'
import { openQemuBench } from './qemu-bench.ts'
import type { QemuBench } from './qemu-bench.ts'

describe('QEMU by hand, the yardstick of benchmarks', () => {
  let bench: QemuBench
  let start: HandStart

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    bench = await openQemuBench()
    const page = 'mkdir -p /tmp/w; echo 1 > /tmp/w/count; httpd -f -p 8080 -h /tmp/w'
    const spec = await bench.spec({ argv: ['sh', '-c', page] })
    const { rootfsPath } = bench
    start = { ...bench.context, memoryMb: 128, rootfsPath, process: spec.process }
    prepareHandNetwork()
  })
  after(async () => {
    if (bench === undefined) return
    removeHandNetwork()
    await bench.close()
  })

  it('begins an application in the same machine', async () => {
    assert.ok((await startByHand(start)) > 0)
  })

  it('answers after a boot, and goes on from a snapshot', async () => {
    const statePath = path.join(bench.directory, 'by-hand')
    const first = new HandVm(start)
    try {
      await first.answered()
      await first.suspend(statePath)
    } finally {
      await first.end()
    }
    const again = new HandVm(start, { kind: 'snapshot', statePath })
    try {
      await again.answered({ greets: true })
    } finally {
      await again.end()
    }
  })
})
