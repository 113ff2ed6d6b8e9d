import path from 'node:path'
import { meanBusy, processorWeights } from '../../domain/host/processor-weights.ts'
import type { ControlGroups } from './control-groups.ts'
import type { VmHandle } from './vm-handle.ts'
import { processorTimeMs } from './vm-usage.ts'

const lookEveryMs = 2_000
/** The smallest change of a weight that is written. */
const leastChange = 0.05

/**
 * Lowers the weight of users whose VMs have lately had more than their part of the processors
 * (`src/domain/host/processor-weights.ts`). The instances of other users then start, wake and answer almost
 * as if those VMs did not exist. While only one user has VMs, nothing is measured.
 */
export class UserWeights {
  readonly #groups: Pick<ControlGroups, 'weigh'>
  readonly #vms: ReadonlyMap<string, VmHandle>
  readonly #processors: number
  #lookedAtMs: number | undefined
  #timesMs: ReadonlyMap<VmHandle, number> = new Map()
  /** How many processors each user group lately kept busy. */
  #busy: ReadonlyMap<string, number> = new Map()
  #written = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(groups: Pick<ControlGroups, 'weigh'>, vms: ReadonlyMap<string, VmHandle>, processors: number) {
    this.#processors = processors
    this.#groups = groups
    this.#vms = vms
  }

  start(): void {
    this.stop()
    this.#timer = setInterval(() => void this.look(performance.now()).catch(() => undefined), lookEveryMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async look(nowMs: number): Promise<void> {
    const userGroups = this.#userGroups()
    const since = this.#lookedAtMs
    this.#lookedAtMs = userGroups.size < 2 ? undefined : nowMs
    if (userGroups.size < 2) return
    const timesBefore = this.#timesMs
    this.#timesMs = new Map([...userGroups.values()].flat().map((vm) => [vm, processorTimeMs(vm) ?? 0]))
    if (since === undefined) return
    // A VM that is new since the last look used all of its time since then.
    const busyOf = (vm: VmHandle) =>
      ((this.#timesMs.get(vm) ?? 0) - (timesBefore.get(vm) ?? 0)) / (nowMs - since)
    const busy = [...userGroups].map(([group, vms]) => {
      const latest = vms.reduce((sum, vm) => sum + busyOf(vm), 0)
      return [group, meanBusy(this.#busy.get(group) ?? 0, latest)] as const
    })
    this.#busy = new Map(busy)
    await this.#write(processorWeights(this.#busy, this.#processors))
  }

  #userGroups(): ReadonlyMap<string, readonly VmHandle[]> {
    const found = new Map<string, VmHandle[]>()
    for (const vm of this.#vms.values()) {
      const { group } = vm.record
      // Earlier versions had groups of VMs only, not of users.
      if (vm.isOver || group?.includes('/') !== true) continue
      const userGroup = path.dirname(group)
      found.set(userGroup, [...(found.get(userGroup) ?? []), vm])
    }
    return found
  }

  /**
   * Writes the weights that changed. The first weight of a group is always written, because an earlier agent
   * may have written another.
   */
  async #write(weights: ReadonlyMap<string, number>): Promise<void> {
    const changed = [...weights].filter(
      ([group, weight]) => Math.abs((this.#written.get(group) ?? 0) - weight) >= leastChange,
    )
    for (const group of this.#written.keys()) if (!weights.has(group)) this.#written.delete(group)
    for (const [group, weight] of changed) this.#written.set(group, weight)
    await Promise.all(changed.map(async ([group, weight]) => await this.#groups.weigh(group, weight)))
  }
}
