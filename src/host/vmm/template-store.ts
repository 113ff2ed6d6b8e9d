import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { footprintMb } from '../../domain/host/memory-room.ts'
import { newUserGroup } from './control-groups.ts'
import type { ControlGroups } from './control-groups.ts'
import { templateKey } from './machine-plan.ts'
import type { PlanContext, TemplateFiles } from './machine-plan.ts'
import { bootAgainIfStill } from './still-guest.ts'
import { buildTemplate } from './template-build.ts'
import type { Template } from './template-build.ts'
import type { VmSpec } from './vmm.ts'

/**
 * The templates of a host: one for each kernel, version of QEMU, memory size and number of CPUs, with and
 * without a volume (`templateKey`). The first start of such a kind is a plain boot, and afterwards a
 * template is made in the background. If a template fails, starts of its kind are plain boots again.
 *
 *   (none) --first start--> making --> ready --start failed--> given up
 *                              \--failed--> given up
 *
 * If a start needs memory, templates are dropped, both ready ones and those being made. A later plain boot
 * has them made again. Templates are in the memory of this host and do not outlive its agent.
 */
export class TemplateStore {
  readonly #context: PlanContext
  readonly #directory: string
  readonly #onProblem: (message: string) => void
  readonly #groups: ControlGroups | undefined
  /** The templates in the order of their last use, the oldest use first. */
  readonly #entries = new Map<string, Entry>()
  /** Templates are made one at a time, so that they never take more than one core from the instances. */
  #making: Promise<void> = Promise.resolve()
  #closed = false
  #hasRoomFor: (memoryMb: number) => boolean = () => true

  constructor(
    context: PlanContext,
    directory: string,
    onProblem: (message: string) => void = () => undefined,
    groups?: ControlGroups,
  ) {
    this.#context = context
    this.#directory = directory
    this.#onProblem = onProblem
    this.#groups = groups
  }

  /**
   * Sets the function that is asked for room before a template is made, so that the template takes no memory
   * that was promised to VMs.
   */
  askForRoom(hasRoomFor: (memoryMb: number) => boolean): void {
    this.#hasRoomFor = hasRoomFor
  }

  /** The host's memory that templates take, both ready ones and those being made. */
  get heldMb(): number {
    return [...this.#entries.values()].reduce((sumMb, entry) => sumMb + entry.heldMb, 0)
  }

  /**
   * Gives up templates until they hold at least `neededMb` less. The template whose last use is longest ago
   * goes first. If running VMs have mapped a template's memory, that memory stays until they end, but it is
   * covered by what is counted for the VMs themselves.
   */
  drop(neededMb: number): void {
    let freedMb = 0
    for (const [key, entry] of this.#entries) {
      if (freedMb >= neededMb) return
      freedMb += entry.heldMb
      entry.building?.abort(new Error('a start needs the memory'))
      if (entry.template !== undefined) this.#entries.delete(key)
      this.#release(entry)
    }
  }

  /** Returns a template that fits, if one is ready. */
  take(spec: VmSpec): TemplateFiles | undefined {
    if (this.#closed || spec.image.kind !== 'container') return undefined
    const key = templateKey(spec, this.#context)
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.template
  }

  /**
   * Has a template made in the background for later starts like this one, unless there was an attempt
   * before.
   */
  provide(spec: VmSpec): void {
    if (this.#closed || spec.image.kind !== 'container') return
    const key = templateKey(spec, this.#context)
    if (!this.#entries.has(key)) this.#make(key, spec)
  }

  /** Records that a start from the template for `spec` succeeded. */
  prove(spec: VmSpec): void {
    const entry = this.#entries.get(templateKey(spec, this.#context))
    if (entry?.template !== undefined) entry.isProved = true
  }

  /**
   * Gives up the template for `spec` after a start from it failed, so that no other start waits for the same
   * failure. There is one exception. A start may be late only because its user starts too many VMs at once.
   * So if the start was late, a template from which a VM has started before stays: the other users must not
   * lose it.
   */
  reject(spec: VmSpec, failure: { readonly message: string; readonly wasLate: boolean }): void {
    const entry = this.#entries.get(templateKey(spec, this.#context))
    if (entry?.template === undefined) return
    if (failure.wasLate && entry.isProved) {
      this.#onProblem(`a start from a template was late, so a plain boot follows: ${failure.message}`)
      return
    }
    this.#onProblem(`a start from a template failed, so it is given up: ${failure.message}`)
    this.#release(entry)
  }

  /** Resolves when no template is being made. */
  async settled(): Promise<void> {
    await this.#making
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#making
    for (const entry of this.#entries.values()) await entry.template?.release()
    this.#entries.clear()
  }

  #make(key: string, spec: VmSpec): void {
    const entry: Entry = { template: undefined, building: undefined, heldMb: 0, isProved: false }
    this.#entries.set(key, entry)
    this.#making = this.#making.then(async () => {
      await delay(answerMs)
      if (this.#closed) return
      if (this.#hasRoomFor(spec.memoryMb)) await this.#build(key, spec, entry)
      else this.#entries.delete(key)
    })
  }

  async #build(key: string, spec: VmSpec, entry: Entry): Promise<void> {
    const building = new AbortController()
    entry.building = building
    entry.heldMb = footprintMb(spec.memoryMb)
    const statePath = path.join(this.#directory, `${key}.state`)
    const group = await this.#groups?.prepare(newUserGroup()).catch(() => undefined)
    try {
      if (group !== undefined) await this.#groups?.limit(group, spec)
      const groups = group?.directories ?? []
      const work = { statePath, signal: building.signal, groups }
      const build = async () => await buildTemplate(spec, this.#context, work)
      const template = await bootAgainIfStill(build, this.#onProblem)
      entry.template = template
      entry.heldMb = template.heldMb
      await this.#dropOldest()
    } catch (error) {
      entry.heldMb = 0
      if (building.signal.aborted) this.#entries.delete(key)
      else this.#onProblem(`no template could be made, starts are plain boots: ${String(error)}`)
    } finally {
      entry.building = undefined
      // Once the machine's group is removed, the template's memory counts in the parent group.
      if (group !== undefined) await this.#groups?.remove(group.name)
    }
  }

  #release(entry: Entry): void {
    void entry.template?.release()
    entry.template = undefined
    entry.heldMb = 0
  }

  async #dropOldest(): Promise<void> {
    const ready = [...this.#entries].filter(([, entry]) => entry.template !== undefined)
    for (const [key, entry] of ready.slice(0, Math.max(0, ready.length - maxTemplates))) {
      this.#entries.delete(key)
      await entry.template?.release()
    }
  }
}

interface Entry {
  /** A VM has started from the template. */
  isProved: boolean
  /** Undefined while the template is made and after it was given up. */
  template: Template | undefined
  /** Ends the build that is under way. */
  building: AbortController | undefined
  heldMb: number
}

/**
 * How long the making of a template waits. The answer to the boot before is still on its way to somebody who
 * waits for it, and the making would delay it.
 */
const answerMs = 100

/** The most templates that are kept. Each takes some 60 MiB of memory. */
export const maxTemplates = 4

/** Deletes the files that a killed agent left. The memory of its templates went with it. */
export async function clearTemplates(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
}
