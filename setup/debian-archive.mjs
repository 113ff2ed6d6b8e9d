import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { run } from './command.mjs'
import { aptGet, updateLists } from './debian-packages.mjs'

/**
 * Extracts a Debian package into `directory` without installing it. Nothing on the machine changes, no
 * service starts, and root is not needed.
 */
export async function extractPackage({ name, directory, say }) {
  await updateLists(say)
  await aptGet(['-o', 'APT::Sandbox::User=root', 'download', name], { cwd: directory, onLine: say })
  await extractArchives(directory, directory)
}

/** Does the same for several packages and for those dependencies that are not installed on the machine. */
export async function extractWithDependencies({ names, directory, say }) {
  await updateLists(say)
  const archives = path.join(directory, 'archives')
  await mkdir(path.join(archives, 'partial'), { recursive: true })
  const options = [
    `Dir::Cache::archives=${archives}`,
    // Nothing is installed, so apt needs no lock, which only root may take.
    'Debug::NoLocking=1',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option])
  // A package that is installed already would not be downloaded without `--reinstall`.
  const command = ['install', '-y', '--no-install-recommends', '--download-only', '--reinstall', ...names]
  await aptGet([...options, ...command], { onLine: say })
  await extractArchives(archives, directory)
  await rm(archives, { recursive: true })
}

async function extractArchives(from, directory) {
  const archives = (await readdir(from)).filter((file) => file.endsWith('.deb'))
  if (archives.length === 0) throw new Error(`apt-get downloaded no package into ${from}`)
  for (const archive of archives) {
    await run('dpkg', ['-x', path.join(from, archive), directory])
    await rm(path.join(from, archive))
  }
}
