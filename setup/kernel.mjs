import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { exists, run } from './command.mjs'
import { extractPackage } from './debian-archive.mjs'
import { updateLists } from './debian-packages.mjs'
import { Missing } from './missing.mjs'
import { cache } from './paths.mjs'
import { directoryOnce } from './replace.mjs'

const metaPackage = 'linux-image-cloud-amd64'
const kernels = path.join(cache, 'kernel')

/**
 * The kernel of virtual machines: Debian's cloud kernel, which is extracted and never installed into /boot.
 */
export const kernel = {
  title: 'guest kernel',
  async bring({ say }) {
    try {
      const directory = await currentKernel(say)
      return { paths: { kernelDirectory: directory } }
    } catch (cause) {
      throw new Missing({
        what: metaPackage,
        why: 'it is the kernel of every virtual machine',
        command: `apt-get update, then npm run setup again (Debian's archive has the package)`,
        cause,
      })
    }
  },
}

/**
 * Returns the kernel that the archive has now or, if the archive does not answer, the newest in the cache.
 */
async function currentKernel(say) {
  const known = await packageName()
  if (known !== undefined && (await exists(path.join(kernels, known)))) return path.join(kernels, known)
  await updateLists(say)
  const name = await packageName()
  if (name === undefined) return newestCached()
  return directoryOnce(path.join(kernels, name), async (into) => {
    await extractPackage({ name, directory: into, say })
    if (!(await exists(path.join(into, 'lib', 'modules')))) throw new Error(`${name} has no lib/modules`)
  })
}

/** The meta package depends on the kernel of the day, such as linux-image-6.1.0-56-cloud-amd64. */
async function packageName() {
  const depends = await run('apt-cache', ['depends', metaPackage]).catch(() => '')
  return /Depends: (linux-image-\S+-cloud-amd64)/.exec(depends)?.[1]
}

async function newestCached() {
  const names = (await readdir(kernels).catch(() => [])).filter((name) => !name.includes('.tmp-'))
  const newest = names.sort(new Intl.Collator('en', { numeric: true }).compare).at(-1)
  if (newest === undefined) throw new Error(`apt-cache knows no ${metaPackage} and ${kernels} is empty`)
  return path.join(kernels, newest)
}
