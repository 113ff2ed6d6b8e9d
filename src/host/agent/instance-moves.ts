import { randomUUID } from 'node:crypto'
import { LeasePhase } from '../../domain/standby/host-lease-phase.ts'
import { HostFailure } from '../../domain/instance/host-work.ts'
import type { FetchResult, MoveActivities, MovedVolume } from '../../domain/instance/host-work.ts'
import { FairSemaphore } from '../../primitives/fair-semaphore.ts'
import type { BootEnd } from '../instance/boot-end.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { HostStartError } from '../instance/host-start-error.ts'
import { firstRecord, goesToSleep, permitOf, released, runs } from '../instance/record.ts'
import type { InstanceRecord, Move } from '../instance/record.ts'
import { RemovedHere } from '../instance/removed-here.ts'
import type { HostLeases } from '../leases/host-leases.ts'
import type { StandbyWork } from '../leases/standby-work.ts'
import { transfersAtOnce, transfersPerHost } from '../moves/transfers.ts'
import type { HeldSource, Transfers } from '../moves/transfers.ts'
import type { HostVolumes } from '../volumes/host-volumes.ts'
import type { AgentPorts } from './agent-ports.ts'
import { SerialQueue } from './serial-queue.ts'
import { claimFetched } from './claim-fetched.ts'
import { asToldShortly, InstanceFetch, isAlike, isSame } from './instance-fetch.ts'
import type { FetchInput } from './instance-fetch.ts'
import { heldSource } from './held-source.ts'
import { MovingVolumes } from './moving-volumes.ts'
import { VolumeCopies } from './volume-copies.ts'
import type { CopyInput } from './volume-copies.ts'
import { VolumeOffers } from './volume-offers.ts'

type OfferInput = Parameters<MoveActivities['offerVolume']>[0]
type OfferResult = Awaited<ReturnType<MoveActivities['offerVolume']>>
type HoldInput = Parameters<MoveActivities['holdInstance']>[0]

/** How long the old host may take to delete what it has. Otherwise its sweep does it. */
const tellLimitMs = 10_000
/** How long the API may take to tell the launch spec of an instance that is stopped here. */
const specLimitMs = 5_000

interface FetchJob {
  readonly input: FetchInput
  readonly controller: AbortController
  result: Promise<FetchResult>
}

/**
 * A host's side of moves, as the old host and as the new one; see `MoveActivities`. That an instance is
 * held is in its record (`move`), so a new agent goes on with it:
 *
 *   old host   hold: volume -> record with `move` -> the new host may fetch  release, start, stop: record without it
 *   new host   fetch: see `InstanceFetch`; the record has `move`             take, start, stop: launch copy, volume -> record without it
 *
 * When the record at the new host has no `move` any more, the old host is told, and deletes what it has. If
 * it does not hear of that, its garbage sweep does it. A volume is overwritten, but only after the API has
 * said that its row names another host: no host's word is enough for that.
 */
export class InstanceMoves {
  readonly #ports: AgentPorts
  readonly #entries: Map<string, InstanceEntry>
  readonly #leases: HostLeases
  readonly #end: BootEnd
  readonly #standby: StandbyWork
  readonly volumes: MovingVolumes
  readonly #offers: VolumeOffers
  readonly #copies: VolumeCopies
  readonly #source: HeldSource
  readonly #entry: (instanceUuid: string) => InstanceEntry
  readonly #clear: (instanceUuid: string) => Promise<void>
  readonly #fetches = new Map<string, FetchJob>()
  readonly #transferTurns = new FairSemaphore({ size: transfersAtOnce, perUser: transfersPerHost })
  /** Changes of who may fetch, so that the last one counts and one port serves all. */
  readonly #serving = new SerialQueue()
  /** The latest instances that moved away, so that nobody takes them for lost. */
  readonly #gone = new RemovedHere()

  constructor(parts: {
    readonly ports: AgentPorts
    readonly entries: Map<string, InstanceEntry>
    readonly leases: HostLeases
    readonly end: BootEnd
    readonly standby: StandbyWork
    readonly volumes: HostVolumes
    readonly entry: (instanceUuid: string) => InstanceEntry
    readonly clear: (instanceUuid: string) => Promise<void>
  }) {
    this.#ports = parts.ports
    this.#entries = parts.entries
    this.#leases = parts.leases
    this.#end = parts.end
    this.#standby = parts.standby
    this.volumes = new MovingVolumes(parts)
    const { volumes } = this
    this.#offers = new VolumeOffers(parts.ports, () => this.#serveAgain())
    const isFetching = (input: CopyInput) => this.#fetchOf(input) !== undefined
    this.#copies = new VolumeCopies({ ...parts, volumes, isFetching })
    this.#source = heldSource({ ...parts, volumes, offers: this.#offers, gone: this.#gone })
    this.#entry = parts.entry
    this.#clear = parts.clear
  }

  /** See `MoveActivities.offerVolume`. */
  async offer({ instanceUuid, ...wanted }: OfferInput): Promise<OfferResult> {
    this.requireMesh()
    const entry = this.#entries.get(instanceUuid)
    if (entry === undefined || !runs(entry.record)) return { offered: false }
    this.requireMovable(entry, wanted.volume)
    if (!this.#offers.offer(entry, wanted)) return { offered: false }
    return { offered: true, port: await this.#serve() }
  }

  /** See `MoveActivities.copyVolume`. */
  async copy(input: CopyInput): Promise<void> {
    await this.#copies.copy(input, this.requireMesh()).catch((error: unknown) => {
      throw asToldShortly(error)
    })
  }

  async callOffCopy(input: CopyInput): Promise<void> {
    await this.#copies.callOff(input.volume.uuid, input)
  }

  /** See `MoveActivities.holdInstance`. */
  async hold(input: HoldInput): Promise<Awaited<ReturnType<MoveActivities['holdInstance']>>> {
    this.requireMesh()
    const entry = this.#entry(input.instanceUuid)
    await entry.sleep
    const isHeld = await entry.queue.run(async () => await this.#hold(entry, input))
    if (!isHeld) return { held: false }
    const port = await this.#serve()
    await entry.queue.run(async () => await this.#notePort(entry, port))
    return { held: true, port }
  }

  /** See `MoveActivities.releaseInstance`. */
  async release({ instanceUuid }: { readonly instanceUuid: string }): Promise<void> {
    this.#offers.end(instanceUuid)
    const entry = this.#entries.get(instanceUuid)
    if (entry === undefined) return
    await entry.sleep
    await entry.queue.run(async () => {
      const { record } = entry
      if (record?.move?.role !== 'old') return
      await entry.save(released(record), { durable: true })
      await this.volumes.release(entry)
      this.#leases.tell(entry, { kind: 'release' })
      this.#over(entry.instanceUuid, record.move)
    })
  }

  /**
   * See `MoveActivities.fetchInstance`. A fetch of the same hold that is under way is joined. Another one of
   * the instance is called off, and so is one of the same volume with an instance that had it before.
   */
  async fetch(input: FetchInput): Promise<FetchResult> {
    const transfers = this.requireMesh()
    // There is no `await` between the last look and the entry in `#fetches`, so one job of several is made.
    for (;;) {
      const under = this.#fetchOf(input)
      if (under === undefined) break
      if (isSame(under.input, input)) return await under.result
      await this.callOff(under.input.instanceUuid)
    }
    const fetching = new InstanceFetch({
      ports: this.#ports,
      transfers,
      entries: this.#entries,
      volumes: this.volumes,
      copies: this.#copies,
      clear: this.#clear,
      noteBack: (instanceUuid) => this.noteBack(instanceUuid),
    })
    const controller = new AbortController()
    const { signal } = controller
    const { address } = input.from
    const result = this.#transferTurns.run(address, signal, async () => await fetching.run(input, signal))
    const job = { input, controller, result }
    this.#fetches.set(input.instanceUuid, job)
    result.catch(() => undefined)
    try {
      return await result
    } finally {
      if (this.#fetches.get(input.instanceUuid) === job) this.#fetches.delete(input.instanceUuid)
    }
  }

  /** Ends a fetch that is under way. Resolves when nothing more of it is written. */
  async callOff(instanceUuid: string): Promise<void> {
    const job = this.#fetches.get(instanceUuid)
    if (job === undefined) return
    job.controller.abort()
    await job.result.catch(() => undefined)
  }

  /** The fetch under way that writes to the same files. */
  #fetchOf(input: FetchInput | CopyInput): FetchJob | undefined {
    return [...this.#fetches.values()].find((job) => isAlike(job.input, input))
  }

  isFetching(instanceUuid: string): boolean {
    return this.#fetches.has(instanceUuid)
  }

  /** See `MoveActivities.takeInstance`. */
  async take({ instanceUuid }: { readonly instanceUuid: string }): Promise<void> {
    const entry = this.#entries.get(instanceUuid)
    if (entry === undefined) return
    await entry.queue.run(async () => {
      const move = await this.#claim(entry, AbortSignal.timeout(specLimitMs))
      if (move === undefined) return
      if (permitOf(entry.record) !== undefined) await this.#end.rest(entry)
      await this.volumes.release(entry)
      this.#leases.tell(entry, { kind: 'release' })
      this.#over(instanceUuid, move)
    })
  }

  /**
   * Within `queue`: a start by the workflow takes the instance first. The wake needs its place in the
   * network.
   */
  async beforeStart(entry: InstanceEntry, boot: number, signal: AbortSignal): Promise<void> {
    if (permitOf(entry.record) === boot) await this.#claim(entry, signal)
  }

  /** Within `queue`: a stop ends the hold, too. It needs no answer of the API. */
  async beforeStop(entry: InstanceEntry, boot: number): Promise<void> {
    if (entry.record === undefined || (permitOf(entry.record) ?? entry.record.boot) > boot) return
    await this.#claim(entry, AbortSignal.timeout(specLimitMs)).catch((error: unknown) => {
      this.#ports.log.warn(
        { instance: entry.instanceUuid, err: error },
        'an instance that moved here is stopped before it had its place in the network',
      )
    })
    const { record } = entry
    if (record?.move === undefined) return
    await entry.save(released(record), { durable: true })
    await this.volumes.release(entry)
  }

  /** An order to stand by without a hold ends the one that an earlier order made. */
  async endHold(input: { readonly instanceUuid: string }): Promise<void> {
    const role = this.#entries.get(input.instanceUuid)?.record?.move?.role
    if (role === 'old') await this.release(input)
    if (role === 'new') await this.take(input)
  }

  /** Called after work that ends a hold, with the hold that there was before. */
  noteOverridden(entry: InstanceEntry, before: Move | undefined): void {
    if (before !== undefined && entry.record !== undefined && entry.record.move === undefined)
      this.#over(entry.instanceUuid, before)
  }

  /** Called after the instance was deleted here. */
  noteCleared(instanceUuid: string): void {
    this.#offers.end(instanceUuid)
    this.#serveAgain()
  }

  /** Whether the instance moved away, so that it is not missed here. */
  isGone(instanceUuid: string): boolean {
    return this.#gone.has(instanceUuid)
  }

  noteBack(instanceUuid: string): void {
    this.#gone.delete(instanceUuid)
  }

  /** Settles what arrived of volumes for which no instance waits here. */
  async settleArrivals(): Promise<void> {
    await this.volumes.settle(() =>
      [...this.#fetches.values()].flatMap(({ input }) => input.volume?.uuid ?? []),
    )
  }

  /** Goes on with the holds that a new agent found in the records. */
  async recover(): Promise<void> {
    await this.#ports.store.dropArrivals()
    if (this.#holds().length > 0) this.#serveAgain()
  }

  /** Throws if the instance can not move from here with this volume. */
  requireMovable({ record, launch }: InstanceEntry, volume: MovedVolume | undefined): void {
    this.requireMesh()
    if ((record?.volume ?? launch?.spec.volume)?.uuid !== volume?.uuid)
      throw new HostStartError(HostFailure.BootFailed, otherVolume, { final: true })
  }

  /** Throws if this host takes part in no move. */
  requireMesh(): Transfers {
    const { transfers } = this.#ports
    if (transfers !== undefined) return transfers
    throw new HostStartError(HostFailure.BootFailed, 'this host takes part in no mesh', { final: true })
  }

  /** Within `queue`. Nothing wakes the instance from the moment when this has looked at it. */
  async #hold(entry: InstanceEntry, input: HoldInput): Promise<boolean> {
    const { to, permit, volume } = input
    if (!isAtRest(entry, input)) return false
    const record = entry.record ?? (permit === undefined ? await this.#stub(input) : undefined)
    if (record === undefined || record.move?.role === 'new') return false
    if (permit !== undefined) this.requireMovable(entry, volume)
    if (isFor(record.move, input)) {
      await this.volumes.hold(entry, volume)
      return true
    }
    this.#leases.tell(entry, { kind: 'hold' })
    const move = { role: 'old', to, holdUuid: randomUUID(), ...(volume && { volume }) } as const
    try {
      await this.volumes.hold(entry, volume)
      await entry.save({ ...record, move }, { durable: true })
    } catch (error) {
      this.#leases.tell(entry, { kind: 'release' })
      throw error
    }
    return true
  }

  /** Within `queue`. The next agent listens at the same port, if it is free then. */
  async #notePort(entry: InstanceEntry, port: number): Promise<void> {
    const { record } = entry
    if (record?.move?.role === 'old' && record.move.port !== port)
      await entry.save({ ...record, move: { ...record.move, port } })
  }

  /** The record of an instance that never ran here, so that its hold has a place. */
  async #stub({ instanceUuid, boot }: HoldInput): Promise<InstanceRecord> {
    const spec = await this.#ports.launches.launchSpec(instanceUuid, AbortSignal.timeout(specLimitMs))
    const { hostBootId } = this.#ports
    return { ...firstRecord(spec, { boot, hostBootId }, undefined), reported: true }
  }

  async #claim(entry: InstanceEntry, signal: AbortSignal): Promise<Move | undefined> {
    const parts = { ports: this.#ports, volumes: this.volumes, standby: this.#standby }
    return await claimFetched(parts, entry, signal)
  }

  #over(instanceUuid: string, move: Move): void {
    if (move.role === 'old') {
      this.#serveAgain()
      return
    }
    this.#ports.transfers
      ?.tellTaken(move.from, { instanceUuid, holdUuid: move.holdUuid }, AbortSignal.timeout(tellLimitMs))
      .catch((error: unknown) => {
        this.#ports.log.warn(
          { instance: instanceUuid, from: move.from.nodeId, err: error },
          'the old host of an instance does not know yet that it has moved; its sweep finds out',
        )
      })
  }

  #holds(): readonly Extract<Move, { role: 'old' }>[] {
    return [...this.#entries.values()].flatMap(({ record }) =>
      record?.move?.role === 'old' ? [record.move] : [],
    )
  }

  /** Lets the hosts to which instances move fetch them, and no others. Returns the port. */
  async #serve(): Promise<number> {
    return await this.#serving.run(async () => {
      const holds = this.#holds()
      const places = [...holds.map(({ to }) => to), ...this.#offers.places]
      const addresses = [...new Set(places.map(({ address }) => address))]
      const port = holds.find((hold) => hold.port !== undefined)?.port
      return await this.requireMesh().serve(this.#source, { addresses, ...(port !== undefined && { port }) })
    })
  }

  #serveAgain(): void {
    if (this.#ports.transfers === undefined) return
    this.#serve().catch((error: unknown) => {
      this.#ports.log.warn({ err: error }, 'what hosts may fetch from this one could not be set')
    })
  }
}

const otherVolume = 'the instance has another volume here than the one that is to move with it'

/** Whether the instance sleeps here with that permit, or is stopped, and nobody starts it. */
function isAtRest({ record, job, hostLease }: InstanceEntry, { boot, permit }: HoldInput): boolean {
  if (job !== undefined || runs(record) || goesToSleep(record) || permitOf(record) !== permit) return false
  if (permit === undefined) return record === undefined || record.boot <= boot
  const { phase } = hostLease
  return record?.standby?.boot === boot && (phase === LeasePhase.Asleep || phase === LeasePhase.Held)
}

function isFor(move: Move | undefined, { to, volume }: HoldInput): boolean {
  if (move?.role !== 'old' || move.volume?.uuid !== volume?.uuid) return false
  return move.to.nodeId === to.nodeId && move.to.address === to.address
}
