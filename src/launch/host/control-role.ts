import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { joinedApiPort, joinedWorkerPort } from '../../domain/host/control-role.ts'
import type { ControlSettings } from '../../domain/host/control-role.ts'
import { HostRole } from '../../domain/host/role.ts'
import { hostAndPort } from '../../domain/host-and-port.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import type { RoostConfinements } from '../parts/roost-confinements.ts'
import { ownProgram } from '../parts/own-program.ts'
import type { Part } from '../parts/part.ts'
import { untilAnswers } from '../readiness.ts'
import { workerIdentityDirectory } from './joined-host.ts'
import type { JoinedHost } from './joined-host.ts'
import { untilReady } from './until-ready.ts'

const apiStopLimitMs = 2_000
const workerStopLimitMs = 3_000

/** What an API and a worker on a machine that joined need. */
export interface ControlPartsOptions {
  /** What all APIs and workers of the installation have in common. */
  readonly shared: ControlSettings
  readonly confinements: Partial<Pick<RoostConfinements, 'api' | 'worker'>>
  /** Where the API answers on this machine, such as `http://127.0.0.1:7070`. */
  readonly apiAt: string
}

/** Keeps the keys of the installation where this machine's API and worker read them. */
export async function keepKeys(dataDir: string, { keys }: ControlSettings): Promise<void> {
  const directory = path.join(dataDir, 'keys')
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(keys))
    await replaceFile(path.join(directory, name), text, { mode: 0o600, durable: true })
}

/** The settings of an API and a worker on this machine, besides those that the machine itself has. */
export function controlEnvironment(
  { ownAddress }: JoinedHost,
  { settings }: ControlSettings,
  dataDir: string,
): Readonly<Record<string, string>> {
  return {
    ...settings,
    ROOST_DATA_DIR: dataDir,
    ROOST_HOSTS_ADDRESS: hostAndPort({ host: ownAddress, port: joinedApiPort }),
  }
}

interface Machine {
  readonly joined: JoinedHost
  /** Where the parts of this machine reach the API. */
  readonly apiAt: string
  readonly identity: PartIdentity
  readonly dataDir: string
}

export function controlParts(
  { joined, apiAt, identity, dataDir }: Machine,
  { shared, confinements, apiAt: ownApiAt }: ControlPartsOptions,
): readonly Part[] {
  const { hostId, ownAddress, roles } = joined
  const common = {
    ...controlEnvironment(joined, shared, dataDir),
    ROOST_IDENTITY_DIR: workerIdentityDirectory(dataDir),
  }
  const parts: Part[] = []
  if (roles.includes(HostRole.Api)) {
    parts.push({
      ...ownProgram('api'),
      confinement: confinements.api,
      env: common,
      stopSignal: 'SIGTERM',
      stopLimitMs: apiStopLimitMs,
      ready: async (signal) => await untilAnswers(`${ownApiAt}/readyz`, signal),
    })
  }
  if (roles.includes(HostRole.Worker)) {
    const place = { host: ownAddress, port: joinedWorkerPort, name: { part: HostRole.Worker, id: hostId } }
    parts.push({
      ...ownProgram('worker'),
      confinement: confinements.worker,
      env: {
        ...common,
        ROOST_API_URL: `https://${apiAt}`,
        ROOST_METRICS_HOST: ownAddress,
        ROOST_WORKER_METRICS_PORT: String(joinedWorkerPort),
      },
      stopSignal: 'SIGTERM',
      stopLimitMs: workerStopLimitMs,
      ready: async (signal) => await untilReady(place, identity, signal),
    })
  }
  return parts
}
