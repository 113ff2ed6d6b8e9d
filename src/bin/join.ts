import { rm } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import path from 'node:path'
import { HostRole, certifiedRoles } from '../domain/host/role.ts'
import type { CertifiedRole } from '../domain/host/role.ts'
import { hostAndPort } from '../domain/host-and-port.ts'
import { meshInterfaceName } from '../host/network/address-plan.ts'
import { lockDataDirectory } from '../launch/data-directory.ts'
import { joiningChecks, joinRefusal, joinWarnings } from '../launch/doctor/joining.ts'
import {
  HostServiceFailure,
  installHostService,
  requireSystemd,
  serviceName,
} from '../launch/host/host-service.ts'
import {
  gatewayIdentityDirectory,
  identityDirectory,
  readJoinedHost,
  workerIdentityDirectory,
  writeJoinedHost,
} from '../launch/host/joined-host.ts'
import type { JoinedHost } from '../launch/host/joined-host.ts'
import { createStackLog } from '../launch/parts/part-log.ts'
import { openPlatformGroup } from '../launch/parts/platform-group.ts'
import { endStaleProcesses } from '../launch/parts/stale-processes.ts'
import { PartStartError } from '../launch/parts/part-run.ts'
import { runPlatform } from '../launch/run-platform.ts'
import { openHost } from './host-platform.ts'
import { DirectoryInUse } from '../primitives/directory-lock.ts'
import { readSettings, settingsTable } from '../settings/settings.ts'
import type { Settings } from '../settings/settings.ts'
import { asHostsAddress, SettingError, withWholePaths } from '../settings/setting-formats.ts'
import { JoinFailure, joinInstallation, meetInstallation } from '../trust/join-client.ts'
import type { MetInstallation } from '../trust/join-client.ts'
import { readJoinToken } from '../trust/join-token.ts'
import { keepIdentity, keptKey, placeIdentity, publicKeyOf } from '../trust/kept-identity.ts'
import { probeKvm } from './acceleration.ts'

const usage = `Usage: npx roost join [<address> <token>] [--service]

Makes this machine a host of the installation at <address>, and runs it until Ctrl-C. \`roost host invite\` on the
control plane prints the whole command. \`npx roost join\` without arguments goes on as the host that it became.

  --service  let systemd run the host, now and after each start of the machine
`
const serviceOption = '--service'

/** \`roost join\`: makes this machine a host, and runs its agent. */
export async function runJoin(args: readonly string[]): Promise<number> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) return tell(usage, 0)
  const isService = args.includes(serviceOption)
  const words = args.filter((arg) => arg !== serviceOption)
  const option = words.find((word) => word.startsWith('-'))
  if (option !== undefined) return tell(`roost: join has no option '${option}'\n\n${usage}`, 2)
  if (words.length !== 0 && words.length !== 2)
    return tell(`roost: join takes an address and a token, or neither\n\n${usage}`, 2)
  try {
    const settings = readSettings(process.env)
    if (isService) requireSystemd()
    // The service of a host that joined may run, and then takes its new settings.
    if (isService && words.length === 0) {
      await serve(settings, await known(settings))
      return 0
    }
    const lock = lockDataDirectory(settings.dataDir)
    let joined: JoinedHost
    try {
      const [address, token] = words
      joined = address && token ? await join(settings, address, token) : await known(settings)
      if (!isService) await run(settings)
    } finally {
      lock.release()
    }
    if (isService) await serve(settings, joined)
    return 0
  } catch (error) {
    const told = [JoinFailure, SettingError, DirectoryInUse, PartStartError, HostServiceFailure]
    const isTold = told.some((kind) => error instanceof kind)
    if (!isTold) throw error
    process.stderr.write(`roost: ${(error as Error).message}\n`)
    return 1
  }
}

function tell(text: string, code: number): number {
  process.stderr.write(text)
  return code
}

async function serve({ dataDir }: Settings, { hostId, controlPlane }: JoinedHost): Promise<void> {
  const checkout = path.resolve(import.meta.dirname, '../..')
  const given = Object.values(settingsTable).flatMap(({ name }) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const settings = new Map([...given, ['ROOST_DATA_DIR', path.resolve(dataDir)]])
  await installHostService({ checkout, dataDir, node: process.execPath, settings })
  process.stdout.write(
    `This machine is host '${hostId}' of ${controlPlane}. systemd runs it as ${serviceName}: \`systemctl status ${serviceName}\` ` +
      `says how it is, and \`journalctl -u ${serviceName}\` what it did.\n`,
  )
}

async function join(settings: Settings, address: string, text: string): Promise<JoinedHost> {
  if (process.getuid?.() !== 0 && settings.vmm !== 'fake') {
    throw new JoinFailure(
      'a further host needs root: without it the machine can not take part in the network that connects the hosts, so nothing would ' +
        'reach its instances; run the same line with sudo',
    )
  }
  const before = await readJoinedHost(settings.dataDir)
  if (before !== undefined) {
    throw new JoinFailure(
      `this machine is host '${before.hostId}' of ${before.controlPlane} already: \`npx roost join\` without arguments goes on ` +
        `as it; to join another installation, remove that host there and ${settings.dataDir} here`,
    )
  }
  const token = readJoinToken(text)
  if (token === undefined)
    throw new JoinFailure('the token is not complete: copy the whole line that `roost host invite` printed')
  const place = asHostsAddress(address, 'the address')
  const met = await meetInstallation(place, token)
  await requireFitness(settings, met)
  const directory = identityDirectory(settings.dataDir)
  const key = await keptKey(directory)
  // The roles are known after the join alone. Until then the keys of their parts are beside the agent's.
  const pending = (role: CertifiedRole): string => path.join(directory, role)
  const roleKeys = new Map<CertifiedRole, string>()
  for (const role of certifiedRoles) roleKeys.set(role, await keptKey(pending(role)))
  const { certificate, roleCertificates, authority, ...told } = await joinInstallation(met, token, {
    publicKey: publicKeyOf(key),
    rolePublicKeys: Object.fromEntries([...roleKeys].map(([role, one]) => [role, publicKeyOf(one)])),
  })
  await keepIdentity(directory, { certificate, authority })
  for (const [role, one] of roleCertificates) {
    const own = { key: roleKeys.get(role)!, certificate: one, authority }
    await placeIdentity(roleDirectory(role, settings), own)
  }
  const joined = { ...told, controlPlane: hostAndPort(place) }
  await writeJoinedHost(settings.dataDir, joined)
  for (const role of certifiedRoles) await rm(pending(role), { recursive: true })
  return joined
}

/** Where the part of a role reads what it shows. */
function roleDirectory(role: CertifiedRole, { dataDir, gatewayDir }: Settings): string {
  const directories = {
    [HostRole.Gateway]: gatewayIdentityDirectory(gatewayDir),
    [HostRole.Worker]: workerIdentityDirectory(dataDir),
  }
  return directories[role]
}

/**
 * Refuses to join if this machine would be of no use as a host, before the invitation is used up. What only
 * makes it a slower one is printed.
 */
async function requireFitness(settings: Settings, met: MetInstallation): Promise<void> {
  const { dataDir, cacheDir, agentDir } = settings
  // A host that was removed may have left its agent, which has the port.
  await endStaleProcesses(path.join(dataDir, 'run'))
  const { ownAddress, timeMs: theirMs } = met
  const hasMesh = meshInterfaceName(agentDir) in networkInterfaces()
  const machine = { ...settings, ownAddress, theirMs, hasMesh }
  const checks = await joiningChecks(machine, async () => await probeKvm(cacheDir))
  const refusal = joinRefusal(checks)
  if (refusal !== undefined) throw new JoinFailure(refusal)
  for (const warning of joinWarnings(checks)) process.stderr.write(`roost: warning: ${warning}\n`)
}

async function known({ dataDir }: Settings): Promise<JoinedHost> {
  const joined = await readJoinedHost(dataDir)
  if (joined !== undefined) return joined
  throw new JoinFailure(
    'this machine has not joined an installation: `roost host invite` on its control plane prints how',
  )
}

async function run({ dataDir, agentDir, logLevel }: Settings): Promise<void> {
  const group = openPlatformGroup(dataDir)
  try {
    const stackLog = createStackLog({ level: logLevel, pretty: process.stderr.isTTY })
    const enterGroup = group?.enter
    const environment = withWholePaths(process.env)
    await runPlatform({ kind: 'host', open: openHost, environment, dataDir, agentDir, stackLog, enterGroup })
  } finally {
    await group?.close()
  }
}
