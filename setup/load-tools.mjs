import { rm } from 'node:fs/promises'
import path from 'node:path'
import { exists } from './command.mjs'
import { extractWithDependencies } from './debian-archive.mjs'
import { missingLibraries } from './libraries.mjs'
import { Missing } from './missing.mjs'
import { cache } from './paths.mjs'
import { directoryOnce } from './replace.mjs'

/** Each package with its program that the benchmark uses. */
const programs = {
  haproxy: 'usr/sbin/haproxy',
  nginx: 'usr/sbin/nginx',
  caddy: 'usr/bin/caddy',
  'nghttp2-client': 'usr/bin/h2load',
}
const packages = Object.keys(programs)
const directory = path.join(cache, 'load-tools')

/**
 * The proxies with which the gateway is compared, and h2load. They are extracted and not installed, because
 * the packages would start servers of their own. Libraries that the machine lacks are extracted too.
 */
export const loadTools = {
  title: 'reference proxies and load tools (benchmark)',
  async bring({ say }) {
    try {
      // A library that was the machine's own when the programs were extracted may have been removed since.
      if ((await problems()).length > 0) await rm(directory, { recursive: true, force: true })
      await directoryOnce(directory, (into) =>
        extractWithDependencies({ names: packages, directory: into, say }),
      )
      const found = await problems()
      if (found.length > 0) throw new Error(found.join('\n'))
    } catch (cause) {
      throw new Missing({
        what: packages.join(', '),
        why: 'the benchmark compares the gateway with them',
        command: `apt-get update, then npm run setup -- --bench gateway`,
        cause,
      })
    }
    return { paths: { loadTools: directory } }
  },
}

/** The reasons why programs could not run, one sentence each. */
async function problems() {
  const found = await Promise.all(
    Object.entries(programs).map(async ([name, program]) => {
      if (!(await exists(path.join(directory, program)))) return [`${name} brought no ${program}.`]
      const libraries = await missingLibraries(directory, program)
      return libraries.map((library) => `${program} finds no ${library}.`)
    }),
  )
  return found.flat()
}
