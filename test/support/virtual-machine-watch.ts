import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { virtualMachinesByInstance } from './processes.ts'

const pollMs = 60
/**
 * How many looks in a row have to find more than one VM of an instance. One look may still find the process
 * of a killed VM, until the kernel has removed it.
 */
const seenTwice = 2

/**
 * Looks at the machine's processes all the time, because an instance must never have two VMs, whatever dies.
 */
export interface VirtualMachineWatch {
  /** Throws if an instance had more than one VM since the last call. */
  verify(): void
  close(): Promise<void>
}

/** Watches the VMs of one or more hosts, each by its data directory. */
export function watchVirtualMachines(...dataDirs: readonly string[]): VirtualMachineWatch {
  const surplus = new Map<string, number>()
  const found: string[] = []
  let closing = false
  const look = (): void => {
    const machines = machinesOf(dataDirs)
    for (const uuid of surplus.keys()) if ((machines.get(uuid)?.length ?? 0) < 2) surplus.delete(uuid)
    for (const [uuid, pids] of machines) {
      if (pids.length < 2) continue
      const times = (surplus.get(uuid) ?? 0) + 1
      surplus.set(uuid, times)
      if (times === seenTwice) found.push(`${uuid}: ${pids.join(', ')}`)
    }
  }
  const watching = (async () => {
    while (!closing) {
      look()
      await delay(pollMs)
    }
  })()
  return {
    verify() {
      assert.deepEqual(found.splice(0), [], 'instances with more than one VM')
    },
    async close() {
      closing = true
      await watching
    },
  }
}

/** The process numbers of the VMs of every instance, on all hosts together. */
function machinesOf(dataDirs: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const all = new Map<string, readonly number[]>()
  for (const dataDir of dataDirs)
    for (const [uuid, pids] of virtualMachinesByInstance(dataDir))
      all.set(uuid, [...(all.get(uuid) ?? []), ...pids])
  return all
}
