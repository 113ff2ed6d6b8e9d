import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { keptFiles, understands } from '../../domain/protocols.ts'
import { replaceFile } from '../../primitives/replace-file.ts'
import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import type { PreparedImage } from '../images/images.ts'
import { span } from '../../primitives/spans.ts'
import type { InstanceRecord } from './record.ts'
import { replaceText } from '../agent/record-file.ts'

/**
 * All that a start needs. It is kept so that a wake need not ask the API or the registry. It holds secrets.
 */
export interface LaunchCopy {
  readonly spec: LaunchSpec
  readonly image: PreparedImage
}

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface StoredInstance {
  readonly instanceUuid: string
  /** Undefined if the directory has no record that can be read. */
  readonly record: InstanceRecord | undefined
}

/**
 * The directories `<agent directory>/instances/<uuid>`: `record.json`, `console/`, the VMM's files in `vm/`,
 * and `launch/`, which only the agent may read. A record is replaced as a whole, so after a crash it is the
 * old one or the new one.
 */
export class InstanceStore {
  readonly #root: string
  readonly #arrivals: string

  constructor(agentDirectory: string) {
    this.#root = join(agentDirectory, 'instances')
    this.#arrivals = join(agentDirectory, 'arriving')
  }

  directory(instanceUuid: string): string {
    if (!uuidPattern.test(instanceUuid)) throw new Error(`'${instanceUuid}' is not the UUID of an instance`)
    return join(this.#root, instanceUuid)
  }

  consoleDirectory(instanceUuid: string): string {
    return join(this.directory(instanceUuid), 'console')
  }

  /** With `durable` the record also outlives the death of the machine, once this has resolved. */
  async save(record: InstanceRecord, options: { readonly durable?: boolean } = {}): Promise<void> {
    await span(record.instanceUuid, 'host: record', async () => await this.#save(record, options))
  }

  async #save(record: InstanceRecord, options: { readonly durable?: boolean }): Promise<void> {
    const directory = this.directory(record.instanceUuid)
    const path = join(directory, 'record.json')
    const text = JSON.stringify(record)
    const how = { durable: options.durable ?? false }
    try {
      await replaceText(path, text, how)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      await mkdir(directory, { recursive: true })
      await replaceText(path, text, how)
    }
  }

  async keepLaunch(instanceUuid: string, copy: LaunchCopy): Promise<void> {
    await writeLaunch(this.#launchDirectory(instanceUuid), copy)
  }

  /** Undefined if there is no copy that can be read. */
  async loadLaunch(instanceUuid: string): Promise<LaunchCopy | undefined> {
    const path = join(this.#launchDirectory(instanceUuid), 'launch.json')
    const text = await readFile(path, 'utf8').catch(() => '')
    try {
      const { version, spec, image } = JSON.parse(text) as LaunchCopy & { readonly version: number }
      return understands(keptFiles.launchCopy, version) && spec.uuid === instanceUuid
        ? { spec, image }
        : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Makes an empty directory for what is fetched of an instance from another host. It is beside the
   * instances, so no agent takes it for one. A new agent deletes it.
   */
  async beginArrival(instanceUuid: string): Promise<string> {
    const directory = this.#arrivalDirectory(instanceUuid)
    await rm(directory, { recursive: true, force: true })
    for (const part of ['console', 'snapshot'])
      await mkdir(join(directory, part), { recursive: true, mode: 0o700 })
    return directory
  }

  /**
   * Makes what arrived an instance of this host, in one step and durably. All files are durable already.
   * What there was of the instance here is deleted first.
   */
  async finishArrival(record: InstanceRecord, copy: LaunchCopy | undefined): Promise<void> {
    const { instanceUuid } = record
    const directory = this.#arrivalDirectory(instanceUuid)
    await replaceText(join(directory, 'record.json'), JSON.stringify(record), { durable: true })
    if (copy !== undefined) await writeLaunch(join(directory, 'launch'), copy)
    // Without files there is no snapshot.
    await rmdir(join(directory, 'snapshot')).catch(ignoreNotEmpty)
    for (const part of ['console', 'snapshot', 'launch', '.']) await syncDirectory(join(directory, part))
    await this.remove(instanceUuid)
    await mkdir(this.#root, { recursive: true })
    await rename(directory, this.directory(instanceUuid))
    await syncDirectory(this.#root)
  }

  async dropArrival(instanceUuid: string): Promise<void> {
    await rm(this.#arrivalDirectory(instanceUuid), { recursive: true, force: true })
  }

  /** Deletes what an agent that died had fetched in part. */
  async dropArrivals(): Promise<void> {
    await rm(this.#arrivals, { recursive: true, force: true })
  }

  #arrivalDirectory(instanceUuid: string): string {
    return join(this.#arrivals, basename(this.directory(instanceUuid)))
  }

  async dropLaunch(instanceUuid: string): Promise<void> {
    await rm(this.#launchDirectory(instanceUuid), { recursive: true, force: true })
  }

  #launchDirectory(instanceUuid: string): string {
    return join(this.directory(instanceUuid), 'launch')
  }

  async loadAll(): Promise<readonly StoredInstance[]> {
    await mkdir(this.#root, { recursive: true })
    const names = await readdir(this.#root)
    const uuids = names.filter((name) => uuidPattern.test(name))
    return await Promise.all(
      uuids.map(async (instanceUuid) => ({ instanceUuid, record: await this.#load(instanceUuid) })),
    )
  }

  /**
   * When a file was last made or deleted in the instance's directory. Undefined if there is no directory.
   */
  async changedAtMs(instanceUuid: string): Promise<number | undefined> {
    const found = await stat(this.directory(instanceUuid)).catch(() => undefined)
    return found?.mtimeMs
  }

  async remove(instanceUuid: string): Promise<void> {
    // The record is deleted first. If a crash leaves a directory without a record, nothing in it is
    // believed, and it is deleted later.
    const directory = this.directory(instanceUuid)
    await rm(join(directory, 'record.json'), { force: true })
    await rm(directory, { recursive: true, force: true })
  }

  async #load(instanceUuid: string): Promise<InstanceRecord | undefined> {
    const text = await readFile(join(this.directory(instanceUuid), 'record.json'), 'utf8').catch(() => '')
    try {
      const record = JSON.parse(text) as InstanceRecord
      const isKnown = understands(keptFiles.instanceRecord, record.version)
      // What this agent writes of it from now on is of its own version.
      const { version } = keptFiles.instanceRecord
      return isKnown && record.instanceUuid === instanceUuid ? { ...record, version } : undefined
    } catch {
      return undefined
    }
  }
}

async function writeLaunch(directory: string, copy: LaunchCopy): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const text = JSON.stringify({ version: keptFiles.launchCopy.version, ...copy })
  await replaceFile(join(directory, 'launch.json'), text, { mode: 0o600, durable: true })
}

/** Makes what was created or renamed in the directory durable, if there is one. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  })
  try {
    await handle?.sync()
  } finally {
    await handle?.close()
  }
}

function ignoreNotEmpty(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
}
