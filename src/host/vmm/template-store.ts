import { rm } from 'node:fs/promises'
import path from 'node:path'
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
 * Pre-booted guests to start from, one per kernel, VMM version, memory size and number of CPUs. The first
 * start of a kind boots plainly and has a template made behind it; whatever goes wrong with one only means
 * plain boots again.
 *
 *   (none) --first start--> making --> ready --start failed--> given up
 *                              \--failed--> given up
 *
 * One that is being made or ready is dropped where a start needs its memory; a later plain boot has it made
 * again. Templates are memory of this host and not kept across its agents.
 */
export class TemplateStore {
  readonly #context: PlanContext
  readonly #directory: string
  readonly #onProblem: (message: string) => void
  readonly #groups: ControlGroups | undefined
  /** In the order of their last use, oldest first. */
  readonly #entries = new Map<string, Entry>()
  /** One at a time, so that templates never take more than one core from what was asked for. */
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

  /** Asked before a template is made; it takes no memory that is promised. */
  askForRoom(hasRoomFor: (memoryMb: number) => boolean): void {
    this.#hasRoomFor = hasRoomFor
  }

  /** What those that are made or ready take of the host's memory. */
  get heldMb(): number {
    return [...this.#entries.values()].reduce((sumMb, entry) => sumMb + entry.heldMb, 0)
  }

  /**
   * Gives up templates until at least `neededMb` less is held, those first that were used longest ago. What
   * VMs that run have mapped of one stays until they end; that is within what these are counted with.
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

  /** A template that fits, if one is ready. */
  take(spec: VmSpec): TemplateFiles | undefined {
    if (this.#closed || spec.image.kind !== 'container') return undefined
    const key = templateKey(spec, this.#context)
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.template
  }

  /** Has a template made in the background for later starts like this one, unless that was tried before. */
  provide(spec: VmSpec): void {
    if (this.#closed || spec.image.kind !== 'container') return
    const key = templateKey(spec, this.#context)
    if (!this.#entries.has(key)) this.#make(key, spec)
  }

  /** A start from the template for `spec` succeeded. */
  prove(spec: VmSpec): void {
    const entry = this.#entries.get(templateKey(spec, this.#context))
    if (entry?.template !== undefined) entry.isProved = true
  }

  /**
   * A start from the template for `spec` failed: no other start waits for the same failure. But a VM that is
   * only late may have been one of too many of its user, and that takes nobody the template that has proved
   * itself.
   */
  reject(spec: VmSpec, failure: { readonly message: string; readonly wasLate: boolean }): void {
    const entry = this.#entries.get(templateKey(spec, this.#context))
    if (entry?.template === undefined || (failure.wasLate && entry.isProved)) return
    this.#onProblem(`a start from a template failed, so it is given up: ${failure.message}`)
    this.#release(entry)
  }

  /** Resolves when nothing is being made any more. */
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
      // Its memory counts in the parent from then on.
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
  /** A VM has started from it. */
  isProved: boolean
  /** Absent while it is made and after it was given up. */
  template: Template | undefined
  /** Ends the build that is under way. */
  building: AbortController | undefined
  heldMb: number
}

/** Each costs some 60 MiB of memory for as long as it is kept. */
export const maxTemplates = 4

/** What an earlier agent that was killed left; their memory went with it. */
export async function clearTemplates(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true })
}
