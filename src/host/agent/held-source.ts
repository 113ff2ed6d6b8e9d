import { join } from 'node:path'
import type { InstanceEntry } from '../instance/entry.ts'
import { goesToSleep } from '../instance/record.ts'
import type { RemovedHere } from '../instance/removed-here.ts'
import { volumeFileName } from '../moves/held-copy.ts'
import { readHeldCopy } from '../moves/held-files.ts'
import type { HeldSource } from '../moves/transfers.ts'
import type { AgentPorts } from './agent-ports.ts'
import type { MovingVolumes } from './moving-volumes.ts'
import type { VolumeOffers } from './volume-offers.ts'

/** What this host gives to the hosts to which instances move from here. */
export function heldSource(parts: {
  readonly ports: AgentPorts
  readonly entries: ReadonlyMap<string, InstanceEntry>
  readonly volumes: MovingVolumes
  readonly offers: VolumeOffers
  /** Deletes all of an instance. */
  readonly clear: (instanceUuid: string) => Promise<void>
  /** Is told of instances that moved away. */
  readonly gone: RemovedHere
}): HeldSource {
  const { ports, entries, volumes, offers, clear, gone } = parts
  const heldFor = (instanceUuid: string, address: string): InstanceEntry | undefined => {
    const entry = entries.get(instanceUuid)
    const { move } = entry?.record ?? {}
    const isIts = move?.role === 'old' && move.to.address === address && !goesToSleep(entry?.record)
    return isIts ? entry : undefined
  }
  return {
    copyFor: async (instanceUuid, address) => {
      const entry = heldFor(instanceUuid, address)
      return await entry?.queue.run(async () => {
        const { record } = entry
        if (record?.move?.role !== 'old' || heldFor(instanceUuid, address) !== entry) return undefined
        const { store, vmm } = ports
        const { holdUuid } = record.move
        entry.launch ??= await store.loadLaunch(instanceUuid)
        const { launch } = entry
        const directory = store.directory(instanceUuid)
        const file = await volumes.fileOf(entry)
        const volume = file && { ...file, copyUuid: await offers.wholeCopy(entry, address) }
        return await readHeldCopy({ directory, record, holdUuid, launch, vmm, volume })
      })
    },
    fileFor: async (instanceUuid, address, name) => {
      const entry = heldFor(instanceUuid, address)
      if (entry === undefined) return undefined
      const holdUuid = entry.record?.move?.holdUuid
      const isHeld = (): boolean =>
        heldFor(instanceUuid, address) === entry && entry.record?.move?.holdUuid === holdUuid
      const inDirectory = join(ports.store.directory(instanceUuid), name)
      const path = name === volumeFileName ? (await volumes.fileOf(entry))?.path : inDirectory
      return path === undefined ? undefined : { path, isHeld }
    },
    volumeFor: (instanceUuid, address) => offers.volumeFor(instanceUuid, address),
    taken: async ({ instanceUuid, holdUuid }, address) => {
      const entry = heldFor(instanceUuid, address)
      // A start that waits here was ordered by the workflow, which knows better.
      const isOver = (): boolean => entry?.record?.move?.holdUuid === holdUuid && entry.job === undefined
      if (entry === undefined || !isOver()) return false
      await volumes.letGo(entry, { told: true })
      if (heldFor(instanceUuid, address) !== entry || !isOver()) return false
      gone.add(instanceUuid)
      await clear(instanceUuid)
      ports.log.info({ instance: instanceUuid }, 'an instance has moved to another host')
      return true
    },
  }
}
