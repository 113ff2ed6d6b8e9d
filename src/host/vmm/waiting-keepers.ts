import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import path from 'node:path'
import { newUserGroup } from './control-groups.ts'
import type { ControlGroups, VmGroup } from './control-groups.ts'
import type { VmRecord } from './vm-record.ts'

/**
 * Two wakes at once are common, and more keep the processor busy with other things; each takes some 100 KB.
 */
const keptWaiting = 2
/** So many users have keepers that wait in their own groups: those that started or woke something last. */
const keptUsers = 8
/** Starting one holds this process up, so it waits until what the last one was taken for is over. */
const replenishMs = 300

/** A keeper that is to be told what to be. */
export interface WaitingKeeper {
  readonly stdin: Socket
  /** Which it is in, and so will be its VM. Absent where there are no control groups. */
  readonly group?: VmGroup
}

/**
 * Keepers that were started ahead (`guest/keeper/waiting.c`), each known by its standard input. To start a
 * process is to copy the page tables of this one: 4 to 6 ms for an agent of 150 MB, as much as all else that
 * a wake costs beside its VM. Each also makes what its VM will see of the host, of which the VMM's program
 * has to be a part.
 *
 * A keeper waits inside the control group of its VM to come, and that is inside the group of a user: to enter
 * a group takes some 10 ms. Two wait in groups that are nobody's yet, and become those of a user who has
 * none; two wait for each of the users who needed one last.
 */
export class WaitingKeepers {
  readonly #keeperPath: string
  readonly #vmmPath: string
  readonly #groups: ControlGroups | undefined
  readonly #waiting = new Set<WaitingKeeper>()
  /** By user: the group of all VMs of the user. */
  readonly #userGroups = new Map<string, string>()
  /**
   * The user groups that keepers are kept for, the one needed last at the end; `undefined` for groups that
   * are nobody's.
   */
  #kept: readonly (string | undefined)[] = [undefined]
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

  /** One that waits for a VM of this user, or else a new one; rejects where none can be started. */
  async take(userUuid: string): Promise<WaitingKeeper> {
    const own = this.#userGroups.get(userUuid)
    const [found] = this.#waitingIn(own)
    found?.stdin.ref()
    if (found !== undefined) this.#waiting.delete(found)
    // Before anything is waited for: a second VM of the user joins the first.
    const userGroup = own ?? found?.group?.userGroup ?? newUserGroup()
    if (this.#groups !== undefined) this.adopt(userUuid, userGroup)
    this.replenish()
    return found ?? (await this.#start(userGroup))
  }

  /** A VM that an earlier agent started; earlier versions had groups of VMs alone. */
  adoptVm({ userUuid, group }: Pick<VmRecord, 'userUuid' | 'group'>): void {
    if (userUuid !== undefined && group?.includes('/') === true) this.adopt(userUuid, path.dirname(group))
  }

  /** VMs of the user are in this group: others join them. */
  adopt(userUuid: string, userGroup: string): void {
    this.#userGroups.set(userUuid, userGroup)
    const users = this.#kept.filter((group) => group !== undefined && group !== userGroup)
    this.#kept = [undefined, ...users.slice(1 - keptUsers), userGroup]
    for (const keeper of this.#waiting) {
      const waitsFor = keeper.group?.userGroup
      if (waitsFor === undefined || this.#isNobodys(waitsFor) || this.#kept.includes(waitsFor)) continue
      this.#waiting.delete(keeper)
      this.#end(keeper)
    }
  }

  /** Starts what is missing, one after the other, in a moment; first for who needed one last. */
  replenish(): void {
    if (this.#closed || this.#replenishing !== undefined || this.#missing() === undefined) return
    this.#replenishing = setTimeout(() => {
      this.#replenishing = undefined
      const missing = this.#missing()
      if (missing === undefined) return
      this.#add(missing.userGroup).then(
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

  /** Those in this group; without one those that wait for nobody. */
  #waitingIn(userGroup: string | undefined): readonly WaitingKeeper[] {
    return [...this.#waiting].filter(({ group }) =>
      userGroup === undefined
        ? group === undefined || this.#isNobodys(group.userGroup)
        : group?.userGroup === userGroup,
    )
  }

  #isNobodys(userGroup: string): boolean {
    return ![...this.#userGroups.values()].includes(userGroup)
  }

  #missing(): { readonly userGroup: string | undefined } | undefined {
    const userGroup = this.#kept.findLast((group) => this.#waitingIn(group).length < keptWaiting)
    const isMissing = userGroup !== undefined || this.#waitingIn(undefined).length < keptWaiting
    return isMissing ? { userGroup } : undefined
  }

  #end({ stdin, group }: WaitingKeeper): void {
    stdin.destroy()
    if (group === undefined || this.#groups === undefined) return
    const removal = this.#groups.remove(group.name).finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  async #add(userGroup: string | undefined): Promise<void> {
    const keeper = await this.#start(userGroup)
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

  async #start(userGroup = newUserGroup()): Promise<WaitingKeeper> {
    const group = await this.#groups?.prepare(userGroup)
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
