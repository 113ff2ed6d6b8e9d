import { findMemoryLack, footprintMb, memoryLimitMb } from '../../domain/host/memory-room.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import type { VmHandle } from './vm-handle.ts'
import type { TemplateStore } from './template-store.ts'
import { VmmError } from './vmm.ts'
import type { MemoryReading } from './vmm.ts'

/**
 * What the ledger counts. The ledger asks anew at every admission, so nobody has to tell it when memory
 * becomes free.
 */
export interface MemoryHolders {
  /** Every VM whose process may still be there, with the memory that its instance asked for. */
  running(): Iterable<{ readonly instanceUuid: string; readonly memoryMb: number }>
  /** The memory that templates and their builds hold. */
  templatesMb(): number
  /** Drops templates until at least `neededMb` are freed, or no template is left. */
  dropTemplates(neededMb: number): void
}

/**
 * Admits starts within the memory that all VMs of this host may take together. A VM counts with
 * `footprintMb` from the moment its start is admitted until its process is gone, also while it is being
 * suspended. Admission and count are one synchronous step, so of two starts that ask at once the second sees
 * the first. Nothing is written down: a new agent counts the VMs that it finds running.
 */
export class MemoryLedger {
  readonly #host: HostMemory
  readonly #holders: MemoryHolders
  /**
   * The footprints of starts under way, by instance. If the start has already made its VM, that VM is not
   * counted a second time.
   */
  readonly #starting = new Map<string, number>()
  #refusals = 0

  constructor(host: HostMemory, holders: MemoryHolders) {
    this.#host = host
    this.#holders = holders
  }

  /**
   * Counts the start until the returned function is called. Throws `VmmError` with `HostFull` where the
   * start does not fit.
   */
  admit(instanceUuid: string, memoryMb: number): () => void {
    const others = this.#instancesMb(instanceUuid)
    const overMb = others + this.#holders.templatesMb() + footprintMb(memoryMb) - memoryLimitMb(this.#host)
    // A start that somebody waits for comes before a template, which only makes later starts quicker.
    if (overMb > 0) this.#holders.dropTemplates(overMb)
    this.#refuse({ memoryMb, usedMb: others + this.#holders.templatesMb() })
    this.#starting.set(instanceUuid, footprintMb(memoryMb))
    return () => {
      this.#starting.delete(instanceUuid)
    }
  }

  /**
   * Throws like `admit` if the start would not fit even without templates. Counts nothing and drops no
   * template.
   */
  check(instanceUuid: string, memoryMb: number): void {
    this.#refuse({ memoryMb, usedMb: this.#instancesMb(instanceUuid) })
  }

  /** Whether a template of a guest with this memory fits beside everything that was admitted. */
  hasRoomFor(memoryMb: number): boolean {
    const usedMb = this.#instancesMb() + this.#holders.templatesMb()
    return findMemoryLack(this.#host, { memoryMb, usedMb }) === undefined
  }

  read(): MemoryReading {
    return {
      host: this.#host,
      limitMb: memoryLimitMb(this.#host),
      instancesMb: this.#instancesMb(),
      templatesMb: this.#holders.templatesMb(),
      refusals: this.#refusals,
    }
  }

  #refuse(asked: { readonly memoryMb: number; readonly usedMb: number }): void {
    const lack = findMemoryLack(this.#host, asked)
    if (lack === undefined) return
    this.#refusals += 1
    throw new VmmError('HostFull', lack)
  }

  #instancesMb(except?: string): number {
    let sumMb = 0
    for (const [uuid, mb] of this.#starting) if (uuid !== except) sumMb += mb
    for (const { instanceUuid, memoryMb } of this.#holders.running()) {
      if (instanceUuid !== except && !this.#starting.has(instanceUuid)) sumMb += footprintMb(memoryMb)
    }
    return sumMb
  }
}

/**
 * The ledger of a VMM with these VMs and templates. A VM that has ended holds no memory, even before it is
 * forgotten.
 */
export function openLedger(
  host: HostMemory,
  vms: ReadonlyMap<string, VmHandle>,
  templates: TemplateStore | undefined,
): MemoryLedger {
  const ledger = new MemoryLedger(host, {
    *running() {
      for (const { record, isOver } of vms.values()) {
        if (!isOver) yield { instanceUuid: record.instanceUuid, memoryMb: record.memoryMb ?? 0 }
      }
    },
    templatesMb: () => templates?.heldMb ?? 0,
    dropTemplates: (neededMb) => templates?.drop(neededMb),
  })
  templates?.askForRoom((memoryMb) => ledger.hasRoomFor(memoryMb))
  return ledger
}
