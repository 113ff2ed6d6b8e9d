import type { VmHandle } from './vm-handle.ts'
import type { HostTermOfVms } from './vmm.ts'

/** How long a keeper may take to say that it has read the term. It usually takes a millisecond. */
const answerLimitMs = 2_000

/** Makes the keepers of one VMM's VMs read the host's term again, and knows which VMs have none. */
export class VmTerms implements HostTermOfVms {
  readonly #vms: ReadonlyMap<string, VmHandle>
  /**
   * The VMs whose keepers are starting. Such a keeper may have read the term already, and hears nobody yet.
   */
  readonly #spawns = new Set<Promise<unknown>>()

  constructor(vms: ReadonlyMap<string, VmHandle>) {
    this.#vms = vms
  }

  /**
   * Passes on the VM that was started, once `follow` was called with it. Until then it counts as a VM that
   * is being started.
   */
  async following(spawned: Promise<VmHandle>, follow: (vm: VmHandle) => void): Promise<VmHandle> {
    const followed = spawned.then((vm) => {
      follow(vm)
      return vm
    })
    const settled = followed.catch(() => undefined).finally(() => this.#spawns.delete(settled))
    this.#spawns.add(settled)
    return await followed
  }

  isKept(): boolean {
    return this.#running().every(({ record }) => record.keepsTerm === true)
  }

  async heed(): Promise<boolean> {
    await Promise.all(this.#spawns)
    const heeded = await Promise.all(this.#running().map(heedTerm))
    return heeded.every(Boolean)
  }

  #running(): readonly VmHandle[] {
    return [...this.#vms.values()].filter(({ isOver }) => !isOver)
  }
}

async function heedTerm(vm: VmHandle): Promise<boolean> {
  if (vm.record.keepsTerm !== true) return false
  try {
    const answer = await vm.ask('term', 'term ', AbortSignal.timeout(answerLimitMs))
    return answer !== undefined || vm.isOver
  } catch {
    return false
  }
}
