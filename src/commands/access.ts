import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { isJsonObject, parseJson } from '../domain/json-text.ts'
import type { CommandDeps } from './command-deps.ts'
import { CommandFailure, ExitCode } from './command-failure.ts'
import { readProfiles } from './profiles.ts'
import type { Profile } from './profiles.ts'

/** Which installation a command speaks to, and as whom. */
export interface Access extends Profile {
  /** Where the address and the token come from, for people. */
  readonly source: string
}

type AccessDeps = Pick<CommandDeps, 'environment' | 'configFile' | 'dataDir'>

/**
 * Finds the installation: the profile that is named, else the environment, else the profile in use, else the
 * installation on this machine. A token is only ever sent to the address that it was given for.
 */
export async function findAccess(deps: AccessDeps, profileName: string | undefined): Promise<Access> {
  const { ROOST_ADDRESS: address, ROOST_TOKEN: token, ROOST_PROFILE: wanted } = deps.environment
  if (profileName !== undefined) return await namedProfile(deps, profileName)
  if (address !== undefined && address !== '') {
    if (!token) {
      const message =
        'ROOST_ADDRESS is set, but ROOST_TOKEN is not: a token of a profile is not sent to another address'
      throw new CommandFailure(message, { exitCode: ExitCode.NoAccess })
    }
    return { address: parsedAddress(address), token, source: 'the environment' }
  }
  const found = await profileInUse(deps, wanted === '' ? undefined : wanted)
  return token ? { ...found, token, source: `${found.source}, with the token of the environment` } : found
}

async function profileInUse(deps: AccessDeps, wanted: string | undefined): Promise<Access> {
  if (wanted !== undefined) return await namedProfile(deps, wanted)
  const { current } = await readProfiles(deps.configFile)
  if (current !== undefined) return await namedProfile(deps, current)
  const local = await localInstallation(deps.dataDir)
  if (local !== undefined) return local
  const message =
    'no installation is known: run `roost login <address>`, or set ROOST_ADDRESS and ROOST_TOKEN, or start one here with `npm start`'
  throw new CommandFailure(message, { exitCode: ExitCode.NoAccess })
}

async function namedProfile({ configFile }: AccessDeps, name: string): Promise<Access> {
  const { profiles } = await readProfiles(configFile)
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile !== undefined) return { ...profile, source: `the profile '${name}'` }
  const names = Object.keys(profiles)
  const known = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`
  throw new CommandFailure(`no profile '${name}'; ${known}. \`roost login --profile ${name}\` makes it`, {
    exitCode: ExitCode.NoAccess,
  })
}

/** The installation on this machine has recorded its addresses, and the first user's token. */
async function localInstallation(dataDir: string): Promise<Access | undefined> {
  const text = await readFile(path.join(dataDir, 'stack.json'), 'utf8').catch(() => undefined)
  const token = await readFile(path.join(dataDir, 'token'), 'utf8').catch(() => undefined)
  const addresses = text === undefined ? undefined : parseJson(text)
  if (token === undefined || !isJsonObject(addresses)) return undefined
  const { apiUrl, registryUrl } = addresses
  if (typeof apiUrl !== 'string') return undefined
  return {
    address: apiUrl,
    token: token.trim(),
    ...(typeof registryUrl === 'string' ? { registry: registryUrl } : {}),
    source: `the installation in ${dataDir}`,
  }
}

/** An address as a person may write it: without a scheme it is https, except for this machine itself. */
export function parsedAddress(text: string): string {
  const isLocal = /^(localhost|127\.|\[::1\])/.test(text)
  const url = /^[a-z]+:\/\//i.test(text) ? text : `${isLocal ? 'http' : 'https'}://${text}`
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    throw new CommandFailure(`'${text}' is no address: expected one such as https://api.example.com`, {
      exitCode: ExitCode.Usage,
    })
  }
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '')
}
