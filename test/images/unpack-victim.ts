import { join } from 'node:path'
import { defaultImageLimits } from '../../src/host/images/image-limits.ts'
import { startUnpacker } from '../../src/host/images/unpacker.ts'

/**
 * `unpack-victim.ts <directory with a layer in it> <tool>` stands in for an agent. A test kills it while it
 * unpacks an image.
 */
const [directory = '', sqfstar = ''] = process.argv.slice(2)
const unpacker = startUnpacker({
  program: join(import.meta.dirname, '../../src/bin/unpack.ts'),
  maxFileBytes: 1e9,
  maxCpuSeconds: 600,
  withoutNetwork: false,
})
const layers = [{ path: 'layer', size: 512 }]
await unpacker.unpack({ directory, layers, limits: defaultImageLimits, sqfstar }, async () =>
  Promise.resolve(),
)
