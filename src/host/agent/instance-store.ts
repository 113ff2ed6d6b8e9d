import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { InstanceRecord } from './instance-record.ts'

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface StoredInstance {
  readonly instanceUuid: string
  /** Undefined where there is a directory but no record that can be read. */
  readonly record: InstanceRecord | undefined
}

/**
 * The directories `<agent directory>/instances/<uuid>`: `record.json`, `console/` and what the VMM keeps in `vm/`. A record is
 * replaced as a whole, so a reader after a crash finds the one before or the one after.
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

  async save(record: InstanceRecord): Promise<void> {
    const directory = this.directory(record.instanceUuid)
    const path = join(directory, 'record.json')
    const text = JSON.stringify(record)
    try {
      await writeFile(`${path}.tmp`, text)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      await mkdir(directory, { recursive: true })
      await writeFile(`${path}.tmp`, text)
    }
    await rename(`${path}.tmp`, path)
  }

  async loadAll(): Promise<readonly StoredInstance[]> {
    await mkdir(this.#root, { recursive: true })
    const names = await readdir(this.#root)
    const uuids = names.filter((name) => uuidPattern.test(name))
    return await Promise.all(
      uuids.map(async (instanceUuid) => ({ instanceUuid, record: await this.#load(instanceUuid) })),
    )
  }

  /** When anything was last made or deleted in the instance's directory; undefined when there is none. */
  async changedAtMs(instanceUuid: string): Promise<number | undefined> {
    const found = await stat(this.directory(instanceUuid)).catch(() => undefined)
    return found?.mtimeMs
  }

  async remove(instanceUuid: string): Promise<void> {
    // The record first: a directory that a crash leaves without one is collected, never believed.
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
