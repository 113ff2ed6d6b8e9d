import path from 'node:path'
import { exists, run } from './command.mjs'
import { hashOf } from './stamp.mjs'
import { Missing } from './missing.mjs'
import { node24 } from './npm-packages.mjs'
import { cache, checkout } from './paths.mjs'
import { directoryOnce } from './replace.mjs'

const builder = path.join(checkout, 'samples', 'build.ts')

/**
 * Builds the official images of `samples/`, without the internet. The stack pushes them at its first start.
 */
export const sampleImages = {
  title: 'sample images',
  async bring() {
    const key = hashOf([path.join(checkout, 'samples'), path.join(checkout, 'package-lock.json')])
    const directory = path.join(cache, 'samples', key)
    try {
      if (!(await exists(builder))) throw new Error(`${builder} is not there`)
      await directoryOnce(directory, (into) => run(node24, [builder, into], { cwd: checkout }))
    } catch (cause) {
      throw new Missing({
        what: 'the sample images',
        why: 'the official images are made of them',
        command: 'npm run setup',
        cause,
      })
    }
    return { paths: { sampleImages: directory } }
  },
}
