import path from 'node:path'
import { extractPackage } from './debian-archive.mjs'
import { Missing } from './missing.mjs'
import { cache } from './paths.mjs'
import { directoryOnce } from './replace.mjs'

/**
 * Debian's Prometheus with its tool `promtool`. It is extracted and not installed, because the package would
 * start a Prometheus of its own at every boot. Its own web page is not there then, which the tests do not
 * need.
 */
export const prometheus = {
  title: 'Prometheus (tests)',
  async bring({ say }) {
    try {
      const directory = await directoryOnce(path.join(cache, 'prometheus'), (into) =>
        extractPackage({ name: 'prometheus', directory: into, say }),
      )
      return { paths: { prometheus: path.join(directory, 'usr', 'bin') } }
    } catch (cause) {
      throw new Missing({
        what: 'prometheus',
        why: 'the tests read dashboards and alert rules with it',
        command: 'apt-get update, then npm run setup -- --tests',
        cause,
      })
    }
  },
}
