import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { MovedVolume, MovePlace } from '../../domain/instance/host-work.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { runs } from '../instance/record.ts'
import type { OfferedVolume } from '../moves/transfers.ts'
import type { VolumeMirror } from '../vmm/volume-mirror.ts'
import type { AgentPorts } from './agent-ports.ts'

/** How long an offer waits for a host that copies. That may wait for its turn. */
const takeUpLimitMs = 600_000
/**
 * How long a copy that has all is followed, and then told to whoever fetches the instance. The order to stand
 * by comes at once.
 */
const followLimitMs = 600_000
/** How long the answer to a fetch waits for the end of a copy, whose VM sleeps already. */
const settleLimitMs = 5_000
const mebibyte = 1024 * 1024

interface Offer {
  readonly boot: number
  readonly to: MovePlace
  readonly volume: MovedVolume
  readonly copyUuid: string
  mirror?: VolumeMirror
  timer?: NodeJS.Timeout
}

/**
 * The volumes of VMs that run here and that another host may copy, because their instances are to move
 * there; see `MoveActivities.offerVolume`. Nothing of this is kept: with the agent the copies end as well,
 * and the fetch by the other host is right without them.
 *
 *   offered ──(the host copies)──► mirrored ──(its VM sleeps)──► whole ──(the hold is over)──► gone
 *      └──────────────────────────────┴── another end, or late ──► gone
 */
export class VolumeOffers {
  readonly #ports: Pick<AgentPorts, 'vmm' | 'log'>
  readonly #onChange: () => void
  readonly #offers = new Map<string, Offer>()

  /** `onChange` is called when a host may no longer copy. */
  constructor(ports: Pick<AgentPorts, 'vmm' | 'log'>, onChange: () => void) {
    this.#ports = ports
    this.#onChange = onChange
  }

  /** Where the instances of all offers are to move. */
  get places(): readonly MovePlace[] {
    return [...this.#offers.values()].map(({ to }) => to)
  }

  /** Offers the volume, unless it is offered in this way already. Returns false if that boot does not run. */
  offer({ instanceUuid, record }: InstanceEntry, wanted: Pick<Offer, 'boot' | 'to' | 'volume'>): boolean {
    const { boot, to, volume } = wanted
    if (!runs(record) || record.boot !== boot) return false
    const known = this.#offers.get(instanceUuid)
    const isSame = known?.boot === boot && known.to.address === to.address
    if (isSame && known.volume.uuid === volume.uuid) return true
    this.end(instanceUuid)
    const offer: Offer = { boot, to, volume, copyUuid: randomUUID() }
    this.#endAfter(takeUpLimitMs, instanceUuid, offer)
    this.#offers.set(instanceUuid, offer)
    return true
  }

  /** See `HeldSource.volumeFor`. */
  volumeFor(instanceUuid: string, address: string): OfferedVolume | undefined {
    const offer = this.#offers.get(instanceUuid)
    if (offer?.to.address !== address) return undefined
    const { copyUuid, volume } = offer
    return {
      copyUuid,
      bytes: volume.sizeMb * mebibyte,
      mirror: async (target) => {
        const mirror = await this.#ports.vmm.mirror({ instanceUuid, boot: offer.boot }, target)
        if (this.#offers.get(instanceUuid) !== offer) mirror.cancel()
        offer.mirror = mirror
        void this.#follow(instanceUuid, offer, mirror)
        return mirror
      },
    }
  }

  /**
   * The name of the copy at the host with this address that has what the volume of the instance, which
   * sleeps, has now.
   */
  async wholeCopy({ instanceUuid, record }: InstanceEntry, address: string): Promise<string | undefined> {
    const offer = this.#offers.get(instanceUuid)
    if (offer?.mirror === undefined || offer.to.address !== address) return undefined
    // A wake writes its boot into the record before its VM can write to the volume.
    const sleepsSince = record?.boot === offer.boot && record.standby?.boot === offer.boot
    if (runs(record) || !sleepsSince || record.standby.atMs === undefined) return undefined
    const isWhole = await Promise.race([offer.mirror.over, delay(settleLimitMs, false, { ref: false })])
    return isWhole ? offer.copyUuid : undefined
  }

  /** Ends an offer. A copy that follows ends, and the VM runs on. */
  end(instanceUuid: string): void {
    const offer = this.#offers.get(instanceUuid)
    if (offer === undefined) return
    clearTimeout(offer.timer)
    this.#offers.delete(instanceUuid)
    offer.mirror?.cancel()
    this.#onChange()
  }

  async #follow(instanceUuid: string, offer: Offer, mirror: VolumeMirror): Promise<void> {
    const { log } = this.#ports
    const about = { instance: instanceUuid, volume: offer.volume.uuid, to: offer.to.nodeId }
    log.info(about, 'another host copies a volume while its VM runs')
    clearTimeout(offer.timer)
    if (await mirror.ready) this.#endAfter(followLimitMs, instanceUuid, offer)
    if (await mirror.over) {
      log.info(about, 'another host has the whole volume of an instance that sleeps')
      return
    }
    log.info(about, 'another host has no copy of a volume: it was called off, or its VM has ended')
    if (this.#offers.get(instanceUuid) === offer) this.end(instanceUuid)
  }

  #endAfter(limitMs: number, instanceUuid: string, offer: Offer): void {
    offer.timer = setTimeout(() => {
      if (this.#offers.get(instanceUuid) === offer) this.end(instanceUuid)
    }, limitMs).unref()
  }
}
