import path from 'node:path'
import { which } from './command.mjs'
import { extractPackage } from './debian-archive.mjs'
import { Missing } from './missing.mjs'
import { cache } from './paths.mjs'
import { directoryOnce } from './replace.mjs'

/**
 * Debian's docker-registry. It is extracted and not installed, because the package would start a registry of
 * its own at every boot.
 */
export const registry = {
  title: 'OCI registry',
  async bring({ say }) {
    const found = (await which('docker-registry')) ?? (await extracted(say))
    return { paths: { registry: found } }
  },
}

async function extracted(say) {
  try {
    const directory = await directoryOnce(path.join(cache, 'docker-registry'), (into) =>
      extractPackage({ name: 'docker-registry', directory: into, say }),
    )
    return path.join(directory, 'usr', 'bin', 'docker-registry')
  } catch (cause) {
    throw new Missing({
      what: 'docker-registry',
      why: 'images are pushed to it and pulled from it',
      command: 'apt-get install -y --no-install-recommends docker-registry',
      cause,
    })
  }
}
