import path from 'node:path'
import { hashOf } from './stamp.mjs'
import { Missing } from './missing.mjs'
import { cache, checkout } from './paths.mjs'
import { directoryOnce } from './replace.mjs'

/**
 * Builds the guest for the kernel that was found. The cache key is the kernel's version and the guest's
 * sources.
 */
export const guest = {
  title: 'guest program and initrd',
  async bring({ say, found }) {
    const kernelPackageDirectory = found.kernelDirectory
    const why = 'it runs first in every virtual machine'
    if (!kernelPackageDirectory)
      throw new Missing({ what: 'the guest', why, command: 'see the guest kernel' })
    const key = `${path.basename(kernelPackageDirectory)}-${hashOf([path.join(checkout, 'guest')])}`
    try {
      const { buildGuest } = await import('../guest/build.mjs')
      const guestDirectory = await directoryOnce(path.join(cache, 'guest', key), async (outputDirectory) => {
        say('compiling')
        await buildGuest({ kernelPackageDirectory, outputDirectory })
      })
      return { paths: { guestDirectory } }
    } catch (cause) {
      throw new Missing({
        what: 'the guest',
        why,
        command: 'npm run setup, once the error above is mended',
        cause,
      })
    }
  },
}
