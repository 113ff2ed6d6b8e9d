import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import path from 'node:path'
import { newUserGroup } from './control-groups.ts'
import type { ControlGroups, VmGroup } from './control-groups.ts'
import type { VmRecord } from './vm-record.ts'

/**
 * How many keepers wait in each group. Two wakes at once are common. With more wakes at once, the processor
 * is busy with other work than the start of keepers. A keeper takes some 100 KB.
 */
const keptWaiting = 2
/**
 * How many users have keepers waiting in their own groups. These are the users who started or woke something
 * last.
 */
const keptUsers = 8
/**
 * The pause before another keeper is started. Starting a process blocks this process for some milliseconds.
 * So that comes after the start or wake for which the last keeper was taken.
 */
const replenishMs = 300

/** A keeper that waits for its order. */
export interface WaitingKeeper {
  readonly stdin: Socket
  /** The control groups that the keeper is in, and that its VM will be in. Absent where there are none. */
  readonly group?: VmGroup
}

/**
 * Keepers that were started ahead (`guest/keeper/waiting.c`) and wait for an order on their standard input.
 * Starting a process copies the page tables of this process: 4 to 6 ms for an agent of 150 MB. That is as
 * much as everything else in a wake except its VM. Each keeper also prepares the view of the host's files
 * that its VM will have; the VMM's program has to be in that view.
 *
 * A keeper waits inside the control group of its future VM, which is inside the group of a user, because
 * entering a group takes some 10 ms. Two keepers wait in groups that belong to no user yet; the first VM of
 * a user takes such a keeper, and its group becomes the group of that user. Two more keepers wait for each
 * of the last 8 users who needed one.
 */
export class WaitingKeepers {
  readonly #keeperPath: string
  readonly #vmmPath: string
  readonly #groups: ControlGroups | undefined
  readonly #waiting = new Set<WaitingKeeper>()
  /** The group of all VMs of a user, by user. */
  readonly #userGroups = new Map<string, string>()
  /**
   * The user groups for which keepers are kept; the one needed last is at the end. `undefined` stands for
   * groups that belong to nobody.
   */
  #kept: readonly (string | undefined)[] = [undefined]
  /** Removals of the groups of keepers that ended without a VM. */
  readonly #removals = new Set<Promise<void>>()
  /** The timer after which the next keeper is started. */
  #replenishing: NodeJS.Timeout | undefined
  /** The start of a keeper ahead that was begun last. */
  #adding: Promise<void> | undefined
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

  /** Returns a keeper that waits for this user, or else starts one. Rejects if none can be started. */
  async take(userUuid: string): Promise<WaitingKeeper> {
    const own = this.#userGroups.get(userUuid)
    const [found] = this.#waitingIn(own)
    found?.stdin.ref()
    if (found !== undefined) this.#waiting.delete(found)
    // This comes before the first `await`, so that a second VM of the user joins the first.
    const userGroup = own ?? found?.group?.userGroup ?? newUserGroup()
    if (this.#groups !== undefined) this.adopt(userUuid, userGroup)
    this.replenish()
    return found ?? (await this.#start(userGroup))
  }

  /** Takes over the group of a VM that an earlier agent started. Earlier versions had groups of VMs only. */
  adoptVm({ userUuid, group }: Pick<VmRecord, 'userUuid' | 'group'>): void {
    if (userUuid !== undefined && group?.includes('/') === true) this.adopt(userUuid, path.dirname(group))
  }

  /** Records that VMs of the user are in this group, so that others join them. */
  adopt(userUuid: string, userGroup: string): void {
    this.#userGroups.set(userUuid, userGroup)
    const users = this.#kept.filter((group) => group !== undefined && group !== userGroup)
    this.#kept = [undefined, ...users.slice(1 - keptUsers), userGroup]
    for (const keeper of this.#waiting) {
      const waitsFor = keeper.group?.userGroup
      if (waitsFor === undefined || this.#isNobodys(waitsFor) || this.#kept.includes(waitsFor)) continue
      this.#waiting.delete(keeper)
      this.giveUp(keeper)
    }
  }

  /**
   * Starts the missing keepers one after the other, after a pause, first for the user who needed one last.
   */
  replenish(): void {
    if (this.#closed || this.#replenishing !== undefined || this.#missing() === undefined) return
    this.#replenishing = setTimeout(() => {
      this.#replenishing = undefined
      const missing = this.#missing()
      if (missing === undefined) return
      this.#adding = this.#add(missing.userGroup).then(
        () => this.replenish(),
        // The next start that needs a keeper reports the error.
        () => undefined,
      )
    }, replenishMs)
    this.#replenishing.unref()
  }

  /** Ends the waiting keepers. Resolves when nothing of them is left. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#replenishing)
    await this.#adding
    for (const keeper of this.#waiting) this.giveUp(keeper)
    this.#waiting.clear()
    await Promise.all(this.#removals)
  }

  /** Ends a keeper that will have no VM, and removes its groups. */
  giveUp({ stdin, group }: WaitingKeeper): void {
    stdin.destroy()
    if (group === undefined || this.#groups === undefined) return
    const removal = this.#groups.remove(group.name).finally(() => this.#removals.delete(removal))
    this.#removals.add(removal)
  }

  /** The keepers that wait in this group; without a group, those that wait for nobody. */
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

  async #add(userGroup: string | undefined): Promise<void> {
    const keeper = await this.#start(userGroup)
    if (this.#closed) {
      this.giveUp(keeper)
      return
    }
    keeper.stdin.unref()
    this.#waiting.add(keeper)
    keeper.stdin.once('close', () => {
      if (this.#waiting.delete(keeper)) this.giveUp(keeper)
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
    // A write to a keeper that has ended fails. That the keeper is gone is noticed when `VmHandle` connects
    // to it.
    stdin.on('error', () => undefined)
    // A keeper that was killed while it waited must not be taken.
    child.once('exit', () => stdin.destroy())
    return { stdin, ...(group === undefined ? {} : { group }) }
  }
}
