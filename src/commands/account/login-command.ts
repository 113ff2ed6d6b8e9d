import path from 'node:path'
import { createApiClient } from '../../client/client.ts'
import { parsedAddress } from '../access.ts'
import type { CommandDeps } from '../command-deps.ts'
import { CommandFailure } from '../command-failure.ts'
import { installationOf } from '../installation.ts'
import { fittedTable } from '../output.ts'
import { defaultProfileName, readProfiles, writeProfiles } from '../profiles.ts'
import type { Profile } from '../profiles.ts'
import { usage } from '../session.ts'
import type { CommandLine } from '../session.ts'

interface LoginOptions {
  readonly ca?: string
  readonly registry?: string
}

const maxAuthorityBytes = 1_000_000
const maxTokenCharacters = 1_024

export function addLoginCommands({ program, deps, options }: CommandLine): void {
  program
    .command('login <address>')
    .description('keep the address of an installation and a token for it, as a profile')
    .option('--ca <file>', 'the certificate authority of the API, in PEM')
    .option('--registry <address>', 'the registry, if it is not the one that the API names')
    .addHelpText('after', '\nThe token is read from the terminal without an echo, or from standard input.')
    .action((address: string, given: LoginOptions) =>
      login(deps, address, { ...given, name: options().profile }),
    )
  program
    .command('logout')
    .description('forget a profile and its token')
    .action(() => logout(deps, options().profile))
  program
    .command('profile [name]')
    .description('list the profiles, or use another one from now on')
    .action((name: string | undefined) =>
      name === undefined ? list(deps, options().output) : use(deps, name),
    )
}

async function login(
  deps: CommandDeps,
  address: string,
  { ca, registry, name = defaultProfileName }: LoginOptions & { readonly name: string | undefined },
): Promise<void> {
  if (!/^[\w.-]{1,60}$/.test(name))
    throw usage(`'${name}' is no name for a profile: letters, digits, dots, hyphens`)
  const parsed = parsedAddress(address)
  if (ca !== undefined) deps.trust(await deps.readFile(ca, maxAuthorityBytes))
  if (isExposed(parsed))
    deps.note(`roost: ${parsed} is not encrypted: others on the way can read the token\n`)
  const token = (await deps.readSecret(`Token for ${parsed}: `)).trim()
  if (token === '' || token.length > maxTokenCharacters || /\s/.test(token)) {
    throw new CommandFailure('that is no token: expected one line, as `roost token create` writes it')
  }
  const profile: Profile = {
    address: parsed,
    token,
    ...(ca !== undefined && { ca: path.resolve(ca) }),
    ...(registry !== undefined && { registry: parsedAddress(registry) }),
  }
  // Every token that is valid may ask this.
  await installationOf(createApiClient(profile))
  const { profiles } = await readProfiles(deps.configFile)
  await writeProfiles(deps.configFile, { current: name, profiles: { ...profiles, [name]: profile } })
  deps.write(`the profile '${name}' is for ${parsed}, and in use\n`)
}

function isExposed(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\]|.*\.localhost)$/.test(hostname)
}

async function logout(deps: CommandDeps, wanted: string | undefined): Promise<void> {
  const { current, profiles } = await readProfiles(deps.configFile)
  const name = wanted ?? current
  if (name === undefined || !Object.hasOwn(profiles, name))
    throw new CommandFailure(`no profile '${name ?? ''}' to forget`)
  const others = Object.fromEntries(Object.entries(profiles).filter(([one]) => one !== name))
  await writeProfiles(deps.configFile, { current: current === name ? undefined : current, profiles: others })
  deps.write(`the profile '${name}' is forgotten; its token is still valid: \`roost token rm\` ends one\n`)
}

async function list(deps: CommandDeps, form: 'table' | 'json' | undefined): Promise<void> {
  const { current, profiles } = await readProfiles(deps.configFile)
  const rows = Object.entries(profiles).map(([name, { address }]) => ({
    name,
    address,
    current: name === current,
  }))
  const text = fittedTable(
    rows,
    [
      { title: 'PROFILE', text: ({ name }) => name },
      { title: 'IN USE', text: ({ current }) => (current ? 'yes' : 'no') },
      { title: 'ADDRESS', text: ({ address }) => address, shrinks: true },
    ],
    deps.columns,
  )
  deps.write(form === 'json' ? `${JSON.stringify(rows, undefined, 2)}\n` : `${text}\n`)
}

async function use(deps: CommandDeps, name: string): Promise<void> {
  const { profiles } = await readProfiles(deps.configFile)
  if (!Object.hasOwn(profiles, name))
    throw new CommandFailure(`no profile '${name}': \`roost profile\` lists them`)
  await writeProfiles(deps.configFile, { current: name, profiles })
  deps.write(`the profile '${name}' is in use\n`)
}
