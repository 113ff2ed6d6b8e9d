import path from 'node:path'
import { extractPackage } from './debian-archive.mjs'
import { cache } from './places.mjs'
import { say } from './progress.mjs'
import { directoryOnce } from './replace.mjs'

/**
 * `node setup/reference-proxies.mjs`: brings the proxies that the gateway is measured against, and prints the directory they
 * are in. Extracted, not installed: the packages would start servers of their own. Only the benchmark needs them.
 */
const packages = [
  'haproxy',
  // What haproxy links, where the machine does not have it.
  'liblua5.3-0',
  'libopentracing-c-wrapper0',
  'libopentracing1',
  'nginx',
  'caddy',
  'nghttp2-client',
]

const directory = await directoryOnce(path.join(cache, 'reference-proxies'), async (into) => {
  for (const name of packages) await extractPackage({ name, directory: into, say: quietly })
})
process.stdout.write(`${directory}\n`)

function quietly(detail) {
  if (process.stderr.isTTY) say(detail)
}
