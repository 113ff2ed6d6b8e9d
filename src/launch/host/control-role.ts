import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { joinedApiPort } from '../../domain/host/control-role.ts'
import type { ControlSettings } from '../../domain/host/control-role.ts'
import { HostRole } from '../../domain/host/role.ts'
import { hostAndPort } from '../../domain/host-and-port.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import type { RoostConfinements } from '../parts/roost-confinements.ts'
import { ownProgram } from '../parts/own-program.ts'
import type { Part } from '../parts/part.ts'
import { untilAnswers } from '../readiness.ts'
import { workerIdentityDirectory } from './joined-host.ts'
import type { JoinedHost } from './joined-host.ts'

const apiStopLimitMs = 2_000
const workerStopLimitMs = 3_000

/** What an API and a worker on a machine that joined need. */
export interface ControlPartsOptions {
  /** What all APIs and workers of the installation have in common. */
  readonly shared: ControlSettings
  readonly confinements: Partial<Pick<RoostConfinements, 'api' | 'worker'>>
  /** Where they answer on this machine, such as `http://127.0.0.1:7070`. */
  readonly apiAt: string
  readonly workerAt: string
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

export function controlParts(
  {
    joined,
    apiAt,
    dataDir,
  }: { readonly joined: JoinedHost; readonly apiAt: string; readonly dataDir: string },
  { shared, confinements, apiAt: ownApiAt, workerAt }: ControlPartsOptions,
): readonly Part[] {
  const env = {
    ...controlEnvironment(joined, shared, dataDir),
    ROOST_IDENTITY_DIR: workerIdentityDirectory(dataDir),
    ROOST_METRICS_PARTS: `api=${ownApiAt}, worker=${workerAt}`,
  }
  const part = (name: string, at: string, stopLimitMs: number): Part => ({
    ...ownProgram(name),
    env,
    stopSignal: 'SIGTERM',
    stopLimitMs,
    ready: (signal) => untilAnswers(`${at}/readyz`, signal),
  })
  const { api, worker } = confinements
  const parts: Part[] = []
  if (joined.roles.includes(HostRole.Api))
    parts.push({ ...part('api', ownApiAt, apiStopLimitMs), confinement: api })
  if (joined.roles.includes(HostRole.Worker)) {
    const own = part('worker', workerAt, workerStopLimitMs)
    parts.push({ ...own, confinement: worker, env: { ...env, ROOST_API_URL: `https://${apiAt}` } })
  }
  return parts
}
