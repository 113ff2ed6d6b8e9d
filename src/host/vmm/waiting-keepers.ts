import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { ControlGroups, VmGroup } from './control-groups.ts'

/** Two wakes at once are common, and more keep the processor busy with other things; each takes some 100 KB. */
const keptWaiting = 2
/** Starting one holds this process up, so it waits until what the last one was taken for is over. */
const replenishMs = 300

/** A keeper that is to be told what to be. */
export interface WaitingKeeper {
  readonly stdin: Socket
  /** Which it is in, and so will be its VM. */
  readonly group?: VmGroup
}

/**
 * Keepers that were started ahead (`guest/keeper/waiting.c`), each known by its standard input. To start a process is to copy the page tables of
 * this one: 4 to 6 ms for an agent of 150 MB, as much as all else that a wake costs beside its VM. Each also makes what its VM will see of the
 * host, of which the VMM's program has to be a part.
 */
export class WaitingKeepers {
  readonly #keeperPath: string
  readonly #vmmPath: string
  readonly #groups: ControlGroups | undefined
  readonly #waiting = new Set<WaitingKeeper>()
  /** Groups of keepers that ended untaken, until they are removed. */
  readonly #removals = new Set<Promise<void>>()
  /** The next one is started then. */
  #replenishing: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: {
    readonly keeperPath: string
    readonly vmmPath: string
    readonly groups?: ControlGroups
  }) {
    this.#keeperPath = options.keeperPath
    this.#vmmPath = options.vmmPath
    this.#groups = options.groups
  }

  /** One that waits, or else a new one; rejects where none can be started. */
  async take(): Promise<WaitingKeeper> {
    const [found] = this.#waiting
    found?.stdin.ref()
    if (found !== undefined) this.#waiting.delete(found)
    this.replenish()
    return found ?? (await this.#start())
  }

  /** Starts what is missing, one after the other, in a moment. */
  replenish(): void {
    if (this.#closed || this.#replenishing !== undefined || this.#waiting.size >= keptWaiting) return
    this.#replenishing = setTimeout(() => {
      this.#replenishing = undefined
      this.#add().then(
        () => this.replenish(),
        // Whoever needs one is told what is wrong.
        () => undefined,
      )
    }, replenishMs)
    this.#replenishing.unref()
  }

  /** Those that wait end. Resolves when nothing is left of them. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#replenishing)
    for (const keeper of this.#waiting) this.#end(keeper)
    this.#waiting.clear()
    await Promise.all(this.#removals)
  }

  /** One that was taken and is not needed. */
  giveUp(keeper: WaitingKeeper): void {
    this.#end(keeper)
  }

  #end({ stdin, group }: WaitingKeeper): void {
    stdin.destroy()
    if (group === undefined || this.#groups === undefined) return
    const removal = this.#groups.remove(group.name).finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  async #add(): Promise<void> {
    const keeper = await this.#start()
    if (this.#closed) {
      this.#end(keeper)
      return
    }
    keeper.stdin.unref()
    this.#waiting.add(keeper)
    keeper.stdin.once('close', () => {
      if (this.#waiting.delete(keeper)) this.#end(keeper)
    })
  }

  async #start(): Promise<WaitingKeeper> {
    const group = await this.#groups?.prepare()
    const child = spawn(this.#keeperPath, ['wait', this.#vmmPath, ...(group?.directories ?? [])], {
      detached: true,
      cwd: '/',
      // No part of our environment: it may hold secrets of the platform.
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.unref()
    await once(child, 'spawn').catch(async (error: unknown) => {
      if (group !== undefined) await this.#groups?.remove(group.name)
      throw error
    })
    const stdin = child.stdin as unknown as Socket
    // A keeper that ended early closes the pipe; that it is gone is found when it is connected to.
    stdin.on('error', () => undefined)
    // One that was killed while it waited is not to be taken.
    child.once('exit', () => stdin.destroy())
    return { stdin, ...(group === undefined ? {} : { group }) }
  }
}
