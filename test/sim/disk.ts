import path from 'node:path'
import type { InstanceRecord } from '../../src/host/instance/record.ts'
import type { InstanceStore, LaunchCopy } from '../../src/host/instance/store.ts'
import type { World } from './world.ts'

/**
 * The files that agents write, as `InstanceStore` keeps them: each write is complete or has not happened. All
 * agents of a run have the same disk.
 */
export class SimDisk {
  readonly directory: string
  readonly #world: World
  #record: string | undefined
  #launch: string | undefined

  constructor(world: World, directory: string) {
    this.#world = world
    this.directory = directory
  }

  get record(): InstanceRecord | undefined {
    return this.#record === undefined ? undefined : (JSON.parse(this.#record) as InstanceRecord)
  }

  /** Returns a store of this disk. Each of its calls takes a while. */
  store(): InstanceStore {
    const takes = async (): Promise<void> => {
      await this.#world.sleep(this.#world.dice.stretched(0.05, 3))
    }
    const store: Pick<InstanceStore, keyof InstanceStore> = {
      directory: () => this.directory,
      consoleDirectory: () => path.join(this.directory, 'console'),
      save: async (record) => {
        const text = JSON.stringify(record)
        await takes()
        this.#record = text
      },
      keepLaunch: async (_, copy) => {
        await takes()
        this.#launch = JSON.stringify(copy)
      },
      loadLaunch: async () => {
        await takes()
        return this.#launch === undefined ? undefined : (JSON.parse(this.#launch) as LaunchCopy)
      },
      beginArrival: async () => await Promise.reject(new Error('nothing is fetched')),
      finishArrival: async () => await Promise.reject(new Error('nothing is fetched')),
      dropArrival: takes,
      dropArrivals: takes,
      dropLaunch: async () => {
        await takes()
        this.#launch = undefined
      },
      loadAll: async () => {
        await takes()
        const { record } = this
        return record === undefined ? [] : [{ instanceUuid: record.instanceUuid, record }]
      },
      changedAtMs: async () => await Promise.resolve(undefined),
      remove: async () => {
        await takes()
        this.#record = undefined
        this.#launch = undefined
      },
    }
    return store as InstanceStore
  }
}
