import { chmod, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { sslFiles } from '../../db/ssl-mode.ts'
import type { GivenFile } from '../given-files.ts'
import type { Installed } from '../installed.ts'
import { canConfine, confine } from './part-confinement.ts'
import type { Confinement } from './part-confinement.ts'
import { ensureUser, giveFile, giveTree, letRead, PartUser } from './part-users.ts'
import type { UserIds } from './part-users.ts'
import type { StackSettings } from '../stack-settings.ts'

/**
 * The confinements of Roost's own parts, and the copies of files that they need. The agent is not among
 * them, because it stays root.
 */
export interface RoostConfinements {
  readonly registryOwner: Confinement
  readonly api: Confinement
  readonly worker: Confinement
  readonly gateway: Confinement
  /** Settings of the gateway that name copies instead of the operator's own files. */
  readonly gatewayEnv: Readonly<Record<string, string>>
  readonly copies: readonly GivenFile[]
}

const checkout = path.resolve(import.meta.dirname, '../../..')
/**
 * The capability to bind low ports. The public ports change with the services, so the gateway can not bind
 * all of them before it drops its rights.
 */
const lowPorts = ['net_bind_service']
const firstFreePort = 1024

/**
 * Makes the users of the parts, gives them the files that they need, and returns what each part may do. Files
 * that an earlier version of Roost made as root are given too. Returns undefined if the stack can not run its
 * parts as other users.
 */
export async function confineRoostParts(
  settings: StackSettings,
  installed: Installed,
): Promise<RoostConfinements | undefined> {
  if (!canConfine()) return undefined
  const { secretKeyFile, registryKeyFile, registryCertFile, joinTokenFile, gatewayTokenFile, gatewayDir } =
    settings
  const { registry, api, worker, gateway } = await usersOfParts()
  const authorityFiles = await giveFiles(settings, { api, worker, gateway })
  const node = { program: process.execPath, reads: [checkout] }
  const bundle = installed.workflowBundle
  const pages = installed.consolePages
  const { databaseFiles, temporalFiles } = tlsFiles(settings)
  return {
    // The registry's owner measures and deletes the registry's files, so both run as the same user. But the
    // owner knows the database's password. Linux lets a process look into another one only if it has all
    // capabilities of the other. So the owner gets a capability that the registry lacks.
    registryOwner: await confine({
      ...node,
      user: registry,
      groups: [api.gid],
      capabilities: lowPorts,
      own: [registryKeyFile, registryCertFile, path.join(settings.dataDir, 'registry'), ...databaseFiles],
    }),
    api: await confine({
      ...node,
      user: api,
      reads: pages === undefined ? node.reads : [...node.reads, pages],
      // These groups own what the API shares with the worker and with gateways.
      groups: [worker.gid, gateway.gid],
      capabilities: settings.apiPort < firstFreePort ? lowPorts : [],
      own: [
        secretKeyFile,
        registryKeyFile,
        registryCertFile,
        joinTokenFile,
        gatewayTokenFile,
        ...authorityFiles,
        ...databaseFiles,
        ...temporalFiles,
      ],
    }),
    worker: await confine({
      ...node,
      user: worker,
      reads: bundle === undefined ? node.reads : [...node.reads, path.dirname(bundle)],
      // It asks gateways what they counted of a rollout.
      groups: [gateway.gid],
      own: [
        secretKeyFile,
        gatewayTokenFile,
        ...databaseFiles,
        ...temporalFiles,
        ...(settings.acmeCaFile === undefined ? [] : [settings.acmeCaFile]),
      ],
    }),
    gateway: await confine({
      ...node,
      user: gateway,
      capabilities: lowPorts,
      own: [gatewayTokenFile, gatewayDir],
    }),
    ...metroCopies(settings),
  }
}

async function usersOfParts() {
  const [registry, api, worker, gateway] = await Promise.all([
    ensureUser(PartUser.Registry),
    ensureUser(PartUser.Api),
    ensureUser(PartUser.Worker),
    ensureUser(PartUser.Gateway),
  ])
  return { registry, api, worker, gateway }
}

/**
 * Gives the parts what they need below the data directory. Returns the files of the authority of the parts.
 */
async function giveFiles(
  settings: StackSettings,
  { api, worker, gateway }: Readonly<Record<'api' | 'worker' | 'gateway', UserIds>>,
): Promise<readonly string[]> {
  await makePassable(settings.dataDir)
  await makePassable(path.join(settings.dataDir, 'keys'))
  await letRead(settings.secretKeyFile, worker)
  await letRead(settings.gatewayTokenFile, gateway)
  await letRead(settings.registryKeyFile, api)
  const authorityFiles = await givenAuthority(settings, api)
  await giveFile(settings.joinTokenFile, api)
  await chmod(settings.registryCertFile, 0o644)
  await mkdir(settings.gatewayDir, { recursive: true })
  await giveTree(settings.gatewayDir, gateway)
  return authorityFiles
}

/**
 * The files of the authority of the parts, which the API alone may read. There are none without further
 * hosts.
 */
async function givenAuthority(settings: StackSettings, api: UserIds): Promise<readonly string[]> {
  if (settings.hostsAddress === undefined) return []
  const files = [settings.authorityKeyFile, settings.authorityCertFile]
  for (const file of files) await letRead(file, api)
  return files
}

/** The operator's files by which the parts reach PostgreSQL and Temporal of the operator's own. */
function tlsFiles(settings: StackSettings) {
  const { databaseUrl, temporalAddress, temporalAuthorityFile, temporalCertFile, temporalKeyFile } = settings
  const ofTemporal = [temporalAuthorityFile, temporalCertFile, temporalKeyFile]
  return {
    databaseFiles: databaseUrl === undefined ? [] : sslFiles(databaseUrl),
    temporalFiles: temporalAddress === undefined ? [] : ofTemporal.flatMap((file) => file ?? []),
  }
}

function metroCopies(settings: StackSettings): Pick<RoostConfinements, 'gatewayEnv' | 'copies'> {
  const { metroCertFile, metroKeyFile, gatewayDir } = settings
  const copy = (name: string) => path.join(gatewayDir, 'given', name)
  const given = [
    { setting: 'ROOST_METRO_CERT_FILE', from: metroCertFile, to: copy('metro.crt') },
    { setting: 'ROOST_METRO_KEY_FILE', from: metroKeyFile, to: copy('metro.key') },
  ].flatMap(({ from, ...rest }) => (from === undefined ? [] : [{ ...rest, from }]))
  return {
    gatewayEnv: Object.fromEntries(given.map(({ setting, to }) => [setting, to])),
    copies: given.map(({ from, to }) => ({ from, to })),
  }
}

/**
 * Lets other users pass through a directory. They can not list it: they reach only files whose names they
 * know and that they may read.
 */
export async function makePassable(directory: string): Promise<void> {
  const { mode } = await stat(directory)
  await chmod(directory, (mode & 0o777) | 0o011)
}
