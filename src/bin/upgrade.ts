import { existsSync } from 'node:fs'
import path from 'node:path'
import { roostVersion } from '../domain/roost-version.ts'
import { NotInstalled, readInstalled } from '../launch/installed.ts'
import { ownCheckout } from '../launch/own-checkout.ts'
import { askForUpgrade } from '../launch/upgrade/upgrade-door.ts'
import { readSettings } from '../settings/settings.ts'

const usage = `Usage: npx roost upgrade <directory>

Lets this version of Roost (${roostVersion}, in ${ownCheckout}) take over the platform that runs on this machine
from <directory>: its checkout, or its data directory. Virtual machines run on, and requests are served meanwhile. If a
part of this version does not start, the version before goes on.
`

/** `roost upgrade`: this version takes over a platform that runs. */
export async function runUpgrade(args: readonly string[]): Promise<number> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) return tell(usage, 0)
  const [word, ...rest] = args
  if (rest.length > 0 || word?.startsWith('-') === true)
    return tell(`roost: upgrade takes one directory\n\n${usage}`, 2)
  try {
    readInstalled()
  } catch (error) {
    if (!(error instanceof NotInstalled)) throw error
    return tell(`roost: this version is not set up: run \`npm run setup\` in ${ownCheckout} first\n`, 1)
  }
  const dataDir = word === undefined ? readSettings(process.env).dataDir : dataDirectoryAt(path.resolve(word))
  const outcome = await askForUpgrade(path.join(dataDir, 'run'), ownCheckout, (text) =>
    process.stdout.write(`${text}\n`),
  )
  if (outcome === undefined) return tell(`roost: ${nobody(dataDir)}\n`, 1)
  if (outcome.kind === 'failed') return tell(`roost: ${outcome.why}\n`, 1)
  process.stdout.write(
    `The platform in ${dataDir} is of version ${outcome.version} now. Start it from ${ownCheckout} from now on, with ` +
      `ROOST_DATA_DIR=${dataDir}.\n`,
  )
  return 0
}

/** A checkout has its data in `.roost`, unless a setting says otherwise. */
function dataDirectoryAt(directory: string): string {
  const below = path.join(directory, '.roost')
  return existsSync(below) ? below : directory
}

function nobody(dataDir: string): string {
  return (
    `no platform that can be taken over runs in ${dataDir}. If one runs from elsewhere, name its checkout or its data directory. If it ` +
    'is still starting, wait until its parts run. If it belongs to another user, be that user; use sudo if it runs as root'
  )
}

function tell(text: string, code: number): number {
  process.stderr.write(text)
  return code
}
