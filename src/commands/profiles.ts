import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import { CommandFailure } from './command-failure.ts'

/** An installation and a token for it, under a name. */
export interface Profile {
  readonly address: string
  readonly token: string
  /** A file with the certificate authority of the API, in PEM. */
  readonly ca?: string
  /** The address of the registry. */
  readonly registry?: string
}

export interface Profiles {
  /** The profile that is used if none is named. */
  readonly current: string | undefined
  readonly profiles: Readonly<Record<string, Profile>>
}

export const defaultProfileName = 'default'
const maxFileBytes = 1_000_000

/** Reads the file with the profiles. A file that does not exist holds none. */
export async function readProfiles(file: string): Promise<Profiles> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return undefined
    throw new CommandFailure(`${file} can not be read: ${cause.message}`, { cause })
  })
  if (text === undefined) return { current: undefined, profiles: {} }
  const json = text.length > maxFileBytes ? undefined : parseJson(text)
  if (!isJsonObject(json) || !isJsonObject(json['profiles'])) throw damaged(file)
  const profiles = Object.entries(json['profiles']).map(([name, value]) => [name, profileIn(value, file)])
  const { current } = json
  return {
    current: typeof current === 'string' ? current : undefined,
    profiles: Object.fromEntries(profiles) as Profiles['profiles'],
  }
}

/** Replaces the file at once, so that nobody reads half of it. Only its owner may read it. */
export async function writeProfiles(file: string, profiles: Profiles): Promise<void> {
  const next = `${file}.${randomUUID()}`
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    const handle = await open(next, 'wx', 0o600)
    try {
      await handle.writeFile(`${JSON.stringify(profiles, undefined, 2)}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(next, file)
  } catch (cause) {
    await rm(next, { force: true })
    throw new CommandFailure(`${file} can not be written: ${(cause as Error).message}`, { cause })
  }
}

function profileIn(value: unknown, file: string): Profile {
  if (!isJsonObject(value)) throw damaged(file)
  const { address, token, ca, registry } = value
  if (typeof address !== 'string' || typeof token !== 'string') throw damaged(file)
  return {
    address,
    token,
    ...(typeof ca === 'string' ? { ca } : {}),
    ...(typeof registry === 'string' ? { registry } : {}),
  }
}

function damaged(file: string): CommandFailure {
  return new CommandFailure(`${file} is damaged: remove it and run \`roost login\` again`)
}
