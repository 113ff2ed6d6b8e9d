import { findMemoryLack, footprintMb, memoryLimitMb } from '../../domain/host/memory-room.ts'
import type { HostMemory } from '../../domain/host/memory-room.ts'
import type { VmHandle } from './vm-handle.ts'
import type { TemplateStore } from './template-store.ts'
import { VmmError } from './vmm.ts'
import type { MemoryReading } from './vmm.ts'

/** What the ledger counts; it asks at every admission, so nothing has to be given back. */
export interface MemoryHolders {
  /** Every VM whose process may still be there, with the memory that its instance asked for. */
  running(): Iterable<{ readonly instanceUuid: string; readonly memoryMb: number }>
  /** What templates and their builds hold. */
  templatesMb(): number
  /** Drops templates until at least that much less is held, or none is left. */
  dropTemplates(neededMb: number): void
}

/**
 * Admits starts by what all VMs of this host may take together. A VM counts with `footprintMb` from the
 * moment its start is admitted until its process is gone: while it is suspended, too. Admission and count are
 * one synchronous step, so of two starts that ask at once the second sees the first. Nothing is written down:
 * a new agent counts what it finds running.
 */
export class MemoryLedger {
  readonly #host: HostMemory
  readonly #holders: MemoryHolders
  /** Footprints of starts under way, by instance; the VM that comes of one is not counted beside it. */
  readonly #starting = new Map<string, number>()
  #refusals = 0

  constructor(host: HostMemory, holders: MemoryHolders) {
    this.#host = host
    this.#holders = holders
  }

  /**
   * Counts the start until the function that it returns is called. Throws `VmmError` with `HostFull` where it
   * does not fit.
   */
  admit(instanceUuid: string, memoryMb: number): () => void {
    const others = this.#instancesMb(instanceUuid)
    const overMb = others + this.#holders.templatesMb() + footprintMb(memoryMb) - memoryLimitMb(this.#host)
    // Whoever waits goes before a template, which only makes later starts quicker.
    if (overMb > 0) this.#holders.dropTemplates(overMb)
    this.#refuse({ memoryMb, usedMb: others + this.#holders.templatesMb() })
    this.#starting.set(instanceUuid, footprintMb(memoryMb))
    return () => {
      this.#starting.delete(instanceUuid)
    }
  }

  /**
   * Throws like `admit` where the start would not even fit without templates. Counts nothing and drops none.
   */
  check(instanceUuid: string, memoryMb: number): void {
    this.#refuse({ memoryMb, usedMb: this.#instancesMb(instanceUuid) })
  }

  /** Whether a template of a guest with so much memory can be made without taking what is promised. */
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
 * The ledger of a VMM with these VMs and templates. A VM that ended holds nothing, although it is not
 * forgotten yet.
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
