import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { run } from './command.mjs'
import { aptGet, updateLists } from './debian-packages.mjs'

/**
 * Extracts a Debian package into `directory` without installing it: nothing of the machine changes, no service is
 * started, and no root is needed.
 */
export async function extractPackage({ name, directory, say }) {
  await updateLists(say)
  await aptGet(['-o', 'APT::Sandbox::User=root', 'download', name], { cwd: directory, onLine: say })
  const archive = (await readdir(directory)).find((file) => file.endsWith('.deb'))
  await run('dpkg', ['-x', path.join(directory, archive), directory])
  await run('rm', [path.join(directory, archive)])
}
