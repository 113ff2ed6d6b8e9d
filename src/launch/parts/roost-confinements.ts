import { chmod, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { GivenFile } from '../given-files.ts'
import type { Installed } from '../installed.ts'
import { canConfine, confine } from './part-confinement.ts'
import type { Confinement } from './part-confinement.ts'
import { ensureUser, giveFile, giveTree, letRead, PartUser } from './part-users.ts'
import type { StackSettings } from '../stack-settings.ts'

/**
 * Who Roost's own parts run as, and what they were given for it. The agent is not among them: it stays root.
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
 * Public ports come and go with services, so they can not all be bound before the gateway gives its powers
 * up.
 */
const lowPorts = ['net_bind_service']
const firstFreePort = 1024

/**
 * Gives the parts their files, of an earlier version's too. Undefined where the stack has no power to give
 * up.
 */
export async function confineRoostParts(
  settings: StackSettings,
  installed: Installed,
): Promise<RoostConfinements | undefined> {
  if (!canConfine()) return undefined
  const { secretKeyFile, registryKeyFile, registryCertFile, joinTokenFile, gatewayTokenFile, gatewayDir } =
    settings
  const [registry, api, worker, gateway] = await Promise.all([
    ensureUser(PartUser.Registry),
    ensureUser(PartUser.Api),
    ensureUser(PartUser.Worker),
    ensureUser(PartUser.Gateway),
  ])
  await makePassable(settings.dataDir)
  await makePassable(path.join(settings.dataDir, 'keys'))
  await letRead(secretKeyFile, worker)
  await letRead(gatewayTokenFile, gateway)
  await letRead(registryKeyFile, api)
  await giveFile(joinTokenFile, api)
  await chmod(registryCertFile, 0o644)
  await mkdir(gatewayDir, { recursive: true })
  await giveTree(gatewayDir, gateway)
  const node = { program: process.execPath, reads: [checkout] }
  const bundle = installed.workflowBundle
  return {
    // It measures and deletes the registry's files, so it is the same user. A capability that the registry
    // does not have keeps that from looking into this process, which knows the database's password.
    registryOwner: await confine({
      ...node,
      user: registry,
      groups: [api.gid],
      capabilities: lowPorts,
      own: [registryKeyFile, registryCertFile, path.join(settings.dataDir, 'registry')],
    }),
    api: await confine({
      ...node,
      user: api,
      // What it shares with the worker and with gateways.
      groups: [worker.gid, gateway.gid],
      capabilities: settings.apiPort < firstFreePort ? lowPorts : [],
      own: [secretKeyFile, registryKeyFile, registryCertFile, joinTokenFile, gatewayTokenFile],
    }),
    worker: await confine({
      ...node,
      user: worker,
      reads: bundle === undefined ? node.reads : [...node.reads, path.dirname(bundle)],
      own: [secretKeyFile, ...(settings.acmeCaFile === undefined ? [] : [settings.acmeCaFile])],
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

/** Others may pass, and see nothing of what is in it but what they know the name of and may read. */
async function makePassable(directory: string): Promise<void> {
  const { mode } = await stat(directory)
  await chmod(directory, (mode & 0o777) | 0o011)
}
