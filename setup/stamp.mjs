import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { checkout, setupFile } from './paths.mjs'

/** The files on which a set-up depends. If only other files change, no new set-up is needed. */
const inputs = [
  'package-lock.json',
  'setup',
  'guest',
  'workflows',
  'console',
  'src/client',
  'src/domain',
  'samples',
  'src/registry',
]

/** A short hash of the names and contents of files and directories. */
export function hashOf(places, salt = '') {
  const hash = createHash('sha256').update(salt)
  for (const file of places.flatMap(filesBelow))
    hash.update(path.relative(checkout, file)).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function filesBelow(place) {
  if (!existsSync(place)) return []
  if (statSync(place).isFile()) return [place]
  const entries = readdirSync(place, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map((entry) => path.join(entry.parentPath ?? entry.path, entry.name)).sort()
}

export function currentStamp(environment) {
  return hashOf(
    inputs.map((one) => path.join(checkout, one)),
    JSON.stringify(environment),
  )
}

function readSetup() {
  try {
    return JSON.parse(readFileSync(setupFile, 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * The things, by name, that a set-up with exactly these inputs got. A thing is left out if one of its files
 * is missing now.
 */
export function broughtThings(stamp) {
  const setup = readSetup()
  if (setup?.stamp !== stamp) return {}
  const isThere = ({ files, paths }) => [...files, ...Object.values(paths)].every((file) => existsSync(file))
  return Object.fromEntries(Object.entries(setup.things).filter(([, thing]) => isThere(thing)))
}

/** Writes the result of a set-up. Its `paths` are those of all things and of the machine's own programs. */
export function writeSetup(setup) {
  const unfinished = `${setupFile}.${process.pid}`
  writeFileSync(unfinished, `${JSON.stringify(setup, undefined, 2)}\n`)
  renameSync(unfinished, setupFile)
}
