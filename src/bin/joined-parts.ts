import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Logger } from 'pino'
import { Agent } from 'undici'
import { apiAddressesPath, controlSettingsPath } from '../domain/host/control-role.ts'
import { sharedSettingsPath } from '../domain/host/gateway-role.ts'
import { serverUrl } from '../domain/host-and-port.ts'
import { HostRole, isControlRole } from '../domain/host/role.ts'
import { parseJson } from '../domain/json-text.ts'
import { keepAcceptedConnections } from '../launch/accept-queues.ts'
import { ApiDoor } from '../launch/host/api-door.ts'
import { completeSetUp } from '../launch/host/complete-set-up.ts'
import { controlEnvironment, keepKeys } from '../launch/host/control-role.ts'
import { confineGateway } from '../launch/host/gateway-role.ts'
import type { HostPartsOptions } from '../launch/host/host-parts.ts'
import { gatewayIdentityDirectory, identityDirectory } from '../launch/host/joined-host.ts'
import type { JoinedHost } from '../launch/host/joined-host.ts'
import {
  askTold,
  readApiAddresses,
  readControlSettings,
  readSharedSettings,
  toldOrKept,
} from '../launch/host/told-settings.ts'
import { readInstalled } from '../launch/installed.ts'
import { confineControlParts } from '../launch/parts/roost-confinements.ts'
import { replaceFile } from '../primitives/replace-file.ts'
import { readSettings } from '../settings/settings.ts'
import type { Settings } from '../settings/settings.ts'
import { JoinFailure } from '../trust/join-client.ts'
import { readIdentity } from '../trust/kept-identity.ts'
import { partConnector } from '../trust/part-connector.ts'
import type { PartIdentity } from '../trust/part-identity.ts'

// What the parts of a machine that joined need before they start.

const identityEveryMs = 60_000
const addressesFileName = 'apis.json'
const gatewayFileName = 'gateway-settings.json'
const controlFileName = 'control-settings.json'

/** Opens the port by which the parts of this machine reach the API, whichever of its processes answers. */
export async function openDoor(
  { hostId, controlPlane }: JoinedHost,
  { dataDir, log }: { readonly dataDir: string; readonly log: Logger },
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const file = path.join(dataDir, addressesFileName)
  const kept = readApiAddresses(parseJson(await readFile(file, 'utf8').catch(() => '')))
  const directory = identityDirectory(dataDir)
  let identity = await readIdentity(directory)
  // The agent renews what it shows.
  const readAgain = async (): Promise<void> => {
    identity = (await readIdentity(directory).catch(() => undefined)) ?? identity
  }
  const timer = setInterval(() => void readAgain(), identityEveryMs)
  timer.unref()
  const dispatcher = new Agent({ connect: partConnector(() => identity) })
  const look = async (address: string, signal: AbortSignal): Promise<readonly string[]> => {
    const url = `https://${address}/internal/nodes/${hostId}/${apiAddressesPath}`
    return await askTold({ url, read: readApiAddresses }, dispatcher, signal)
  }
  const door = await ApiDoor.open({
    addresses: [...new Set([...(kept ?? []), controlPlane])],
    look,
    onAddresses: async (addresses) => {
      log.info({ addresses }, 'the addresses of the API have changed')
      await replaceFile(file, JSON.stringify({ addresses }), { mode: 0o600 })
    },
    onMoved: (address) => log.warn({ address }, 'the API is reached at another address now'),
  })
  return {
    address: door.address,
    async close() {
      clearInterval(timer)
      await door.close()
      await dispatcher.destroy()
    },
  }
}

export interface RunContext {
  /** Where the parts of this machine reach the API. */
  readonly apiAt: string
  /** What the agent shows. */
  readonly identity: PartIdentity
  readonly log: Logger
  readonly signal: AbortSignal
}

/** What API and worker need, if this machine has such a role. Undefined, too, if it was interrupted. */
export async function controlOf(
  settings: Settings,
  joined: JoinedHost,
  { apiAt, identity, log, signal }: RunContext,
): Promise<HostPartsOptions['control']> {
  if (!joined.roles.some(isControlRole)) return undefined
  const { dataDir } = settings
  await completeSetUp()
  const shared = await orInterrupted(signal, async () =>
    toldOrKept({
      url: `https://${apiAt}/internal/nodes/${joined.hostId}/${controlSettingsPath}`,
      identity,
      file: path.join(dataDir, controlFileName),
      read: readControlSettings,
      signal,
      onProblem: (message, error) => log.warn({ err: error }, message),
    }),
  )
  if (shared === undefined) return undefined
  await keepKeys(dataDir, shared)
  const env = { ...process.env, ...controlEnvironment(joined, shared, dataDir) }
  const confinements = await confineControlParts(readSettings(env), readInstalled(), {
    api: joined.roles.includes(HostRole.Api),
    worker: joined.roles.includes(HostRole.Worker),
  })
  const ownApiAt = serverUrl('http', { host: settings.apiHost, port: settings.apiPort })
  return { shared, confinements, apiAt: ownApiAt }
}

/** What the gateway needs, if this machine has its role. Undefined, too, if it was interrupted. */
export async function gatewayOf(
  { dataDir, gatewayDir }: Settings,
  { roles }: JoinedHost,
  { apiAt, log, signal }: RunContext,
): Promise<HostPartsOptions['gateway']> {
  if (!roles.includes(HostRole.Gateway)) return undefined
  const directory = gatewayIdentityDirectory(gatewayDir)
  const identity = await readIdentity(directory)
  if (identity === undefined) throw new JoinFailure(`${directory} is incomplete: join again`)
  const shared = await orInterrupted(signal, async () =>
    toldOrKept({
      url: `https://${apiAt}${sharedSettingsPath}`,
      identity,
      file: path.join(dataDir, gatewayFileName),
      read: readSharedSettings,
      signal,
      onProblem: (message, error) => log.warn({ err: error }, message),
    }),
  )
  keepAcceptedConnections()
  const confinement = await confineGateway({ dataDir, gatewayDir })
  return shared && { directory: gatewayDir, shared, confinement }
}

/** Undefined if the work was interrupted. */
async function orInterrupted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  }
}
