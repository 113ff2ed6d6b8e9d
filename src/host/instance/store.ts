import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
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

const launchVersion = 1

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

  constructor(agentDirectory: string) {
    this.#root = join(agentDirectory, 'instances')
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
    const directory = this.#launchDirectory(instanceUuid)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, 'launch.json')
    const text = JSON.stringify({ version: launchVersion, ...copy })
    await replaceFile(path, text, { mode: 0o600, durable: true })
  }

  /** Undefined if there is no copy that can be read. */
  async loadLaunch(instanceUuid: string): Promise<LaunchCopy | undefined> {
    const path = join(this.#launchDirectory(instanceUuid), 'launch.json')
    const text = await readFile(path, 'utf8').catch(() => '')
    try {
      const { version, spec, image } = JSON.parse(text) as LaunchCopy & { readonly version: number }
      return version === launchVersion && spec.uuid === instanceUuid ? { spec, image } : undefined
    } catch {
      return undefined
    }
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

  /** When a file was last made or deleted in the instance's directory. Undefined if there is no directory. */
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
      return record.version === 1 && record.instanceUuid === instanceUuid ? record : undefined
    } catch {
      return undefined
    }
  }
}
