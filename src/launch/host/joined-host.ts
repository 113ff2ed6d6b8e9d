import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { isHostRole } from '../../domain/host/role.ts'
import type { HostRole } from '../../domain/host/role.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import { workerDirectory } from '../data-directory.ts'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'

/** What a machine keeps of the installation that it joined. */
export interface JoinedHost {
  readonly hostId: string
  /** What the machine does besides running instances. */
  readonly roles: readonly HostRole[]
  /** Where the control plane is, such as `192.0.2.10:7075`. */
  readonly controlPlane: string
  readonly temporalNamespace: string
  /** The address of this machine at which the other parts reach it. */
  readonly ownAddress: string
}

const fileName = 'host.json'

/** Where the agent keeps what it shows. */
export function identityDirectory(dataDir: string): string {
  return path.join(dataDir, 'identity')
}

/** Where the gateway keeps what it shows. Only the gateway's user may enter it. */
export function gatewayIdentityDirectory(gatewayDir: string): string {
  return path.join(gatewayDir, 'identity')
}

/** Where the worker keeps what it shows. Only the worker's user may enter it. */
export function workerIdentityDirectory(dataDir: string): string {
  return path.join(workerDirectory(dataDir), 'identity')
}

/** Undefined if this machine has not joined. */
export async function readJoinedHost(dataDir: string): Promise<JoinedHost | undefined> {
  const text = await readFile(path.join(dataDir, fileName), 'utf8').catch(() => '')
  const json = parseJson(text)
  if (!isJsonObject(json)) return undefined
  const { hostId, controlPlane, temporalNamespace, ownAddress, roles = [] } = json
  const texts = { hostId, controlPlane, temporalNamespace, ownAddress }
  if (!Object.values(texts).every((value) => typeof value === 'string')) return undefined
  return Array.isArray(roles) && roles.every(isHostRole)
    ? { ...(texts as Omit<JoinedHost, 'roles'>), roles }
    : undefined
}

export async function writeJoinedHost(dataDir: string, joined: JoinedHost): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  const text = `${JSON.stringify(joined, undefined, 2)}\n`
  await replaceFile(path.join(dataDir, fileName), text, { mode: 0o600, durable: true })
}
