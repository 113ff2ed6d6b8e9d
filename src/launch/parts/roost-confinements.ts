import { existsSync } from 'node:fs'
import { chmod, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { sslFiles } from '../../db/ssl-mode.ts'
import { workerDirectory } from '../data-directory.ts'
import type { GivenFile } from '../given-files.ts'
import type { Installed } from '../installed.ts'
import { ownCheckout, ownNode } from '../own-checkout.ts'
import { canConfine, confine } from './part-confinement.ts'
import type { Confinement } from './part-confinement.ts'
import { ensureUser, giveFile, giveTree, letRead, PartUser } from './part-users.ts'
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

const node = { program: ownNode, reads: [ownCheckout] }
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
  const { registryKeyFile, registryCertFile, gatewayTokenFile, gatewayDir } = settings
  const users = await usersOfParts()
  const { registry, api, gateway } = users
  await makePassable(settings.dataDir)
  await giveWorkerFiles(settings, users)
  await giveApiFiles(settings, users)
  await mkdir(gatewayDir, { recursive: true })
  await giveTree(gatewayDir, gateway)
  const { databaseFiles } = tlsFiles(settings)
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
    api: await confineApi(settings, installed, users),
    worker: await confineWorker(settings, installed, users),
    gateway: await confine({
      ...node,
      user: gateway,
      capabilities: lowPorts,
      own: [gatewayTokenFile, gatewayDir],
    }),
    ...metroCopies(settings),
  }
}

/**
 * On a machine that joined: makes the users of its API and its worker, gives them the files that they need,
 * and returns what each may do. Nothing if the machine can not run them as other users.
 */
export async function confineControlParts(
  settings: StackSettings,
  installed: Installed,
  has: { readonly api: boolean; readonly worker: boolean },
): Promise<Partial<Pick<RoostConfinements, 'api' | 'worker'>>> {
  if (!canConfine()) return {}
  const users = await usersOfParts()
  await makePassable(settings.dataDir)
  await giveWorkerFiles(settings, users)
  if (has.api) await giveApiFiles(settings, users)
  return {
    ...(has.api && { api: await confineApi(settings, installed, users) }),
    ...(has.worker && { worker: await confineWorker(settings, installed, users) }),
  }
}

async function confineApi(
  settings: StackSettings,
  { consolePages }: Installed,
  { api, worker, gateway }: Users,
): Promise<Confinement> {
  const { secretKeyFile, registryKeyFile, registryCertFile, joinTokenFile, gatewayTokenFile } = settings
  const { databaseFiles, temporalFiles } = tlsFiles(settings)
  return await confine({
    ...node,
    user: api,
    reads: consolePages === undefined ? node.reads : [...node.reads, consolePages],
    // These groups own what the API shares with the worker and with gateways.
    groups: [worker.gid, gateway.gid],
    capabilities: settings.apiPort < firstFreePort ? lowPorts : [],
    own: [
      secretKeyFile,
      registryKeyFile,
      registryCertFile,
      joinTokenFile,
      gatewayTokenFile,
      ...authorityFiles(settings),
      ...databaseFiles,
      ...temporalFiles,
    ],
  })
}

async function confineWorker(
  settings: StackSettings,
  { workflowBundle }: Installed,
  { worker, gateway }: Users,
): Promise<Confinement> {
  const { secretKeyFile, gatewayTokenFile, acmeCaFile } = settings
  const { databaseFiles, temporalFiles } = tlsFiles(settings)
  const identity = workerDirectory(settings.dataDir)
  return await confine({
    ...node,
    user: worker,
    reads: workflowBundle === undefined ? node.reads : [...node.reads, path.dirname(workflowBundle)],
    // It asks gateways what they counted of a rollout.
    groups: [gateway.gid],
    own: [
      secretKeyFile,
      gatewayTokenFile,
      ...databaseFiles,
      ...temporalFiles,
      ...(acmeCaFile === undefined ? [] : [acmeCaFile]),
      ...(existsSync(identity) ? [identity] : []),
    ],
  })
}

type Users = Awaited<ReturnType<typeof usersOfParts>>

async function usersOfParts() {
  const [registry, api, worker, gateway] = await Promise.all([
    ensureUser(PartUser.Registry),
    ensureUser(PartUser.Api),
    ensureUser(PartUser.Worker),
    ensureUser(PartUser.Gateway),
  ])
  return { registry, api, worker, gateway }
}

/** Gives workers, and those that share it with them, what they need below the data directory. */
async function giveWorkerFiles(settings: StackSettings, { worker, gateway }: Users): Promise<void> {
  await makePassable(path.join(settings.dataDir, 'keys'))
  await letRead(settings.secretKeyFile, worker)
  await letRead(settings.gatewayTokenFile, gateway)
  const directory = workerDirectory(settings.dataDir)
  if (existsSync(directory)) await giveTree(directory, worker)
}

/** Gives the API what it alone needs below the data directory. */
async function giveApiFiles(settings: StackSettings, { api }: Users): Promise<void> {
  await letRead(settings.registryKeyFile, api)
  for (const file of authorityFiles(settings)) await letRead(file, api)
  await giveFile(settings.joinTokenFile, api)
  await chmod(settings.registryCertFile, 0o644)
}

/** The files of the authority of the parts. There are none without further hosts. */
function authorityFiles(settings: StackSettings): readonly string[] {
  if (settings.hostsAddress === undefined) return []
  return [settings.authorityKeyFile, settings.authorityCertFile]
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
