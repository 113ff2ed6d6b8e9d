import { Context } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { finalHostFailures } from '../../src/domain/instance/host-work.ts'
import type { HostFailure, VolumeActivities } from '../../src/domain/instance/host-work.ts'
import { VolumeWork } from '../../src/domain/volume/lifecycle.ts'

export interface FakeVolumeHostOptions {
  /**
   * The failure of the nth attempt of a kind of work, counted from 1. `defect` is an error of no known kind.
   */
  readonly failureOf?: (work: VolumeWork, attempt: number) => HostFailure | 'defect' | undefined
  /** Makes an attempt wait for a promise. An attempt that is called off ends early. */
  readonly gate?: (work: VolumeWork, attempt: number) => Promise<void> | undefined
}

/** `VolumeActivities` for one volume. */
export class FakeVolumeHost {
  /** All attempts of work in their order. */
  readonly calls: VolumeWork[] = []
  /** The attempts that the workflow called off. */
  readonly calledOff: VolumeWork[] = []
  /** How often a file system was made. */
  formatted = 0
  present = false
  /** How many calls came while another one was under way. It must stay 0. */
  overlaps = 0
  #underWay = 0
  readonly #options: FakeVolumeHostOptions
  readonly activities: VolumeActivities = {
    makeVolume: () => this.#do(VolumeWork.Make, () => this.#make()),
    repairVolume: () => this.#do(VolumeWork.Repair, () => undefined),
    removeVolume: () => this.#do(VolumeWork.Remove, () => void (this.present = false)),
  }

  constructor(options: FakeVolumeHostOptions) {
    this.#options = options
  }

  count(work: VolumeWork): number {
    return this.calls.filter((call) => call === work).length
  }

  #make(): void {
    if (!this.present) this.formatted += 1
    this.present = true
  }

  async #do(work: VolumeWork, act: () => void): Promise<void> {
    this.calls.push(work)
    if (this.#underWay > 0) this.overlaps += 1
    this.#underWay += 1
    try {
      const attempt = this.count(work)
      await this.#orCalledOff(work, this.#options.gate?.(work, attempt))
      const type = this.#options.failureOf?.(work, attempt)
      if (type !== undefined) throw failure(type)
      act()
    } finally {
      this.#underWay -= 1
    }
  }

  async #orCalledOff(work: VolumeWork, gate: Promise<void> | undefined): Promise<void> {
    if (gate === undefined) return
    const context = Context.current()
    const beat = setInterval(() => context.heartbeat(), beatMs)
    try {
      await Promise.race([gate, context.cancelled])
    } catch (error) {
      if (context.cancellationDetails?.cancelRequested === true) this.calledOff.push(work)
      throw error
    } finally {
      clearInterval(beat)
    }
  }
}

/**
 * `VolumeActivities` for all volumes. Each has a `FakeVolumeHost` of its own, with the `behaviour` at the
 * time of its first call.
 */
export class FakeVolumeHosts {
  behaviour: FakeVolumeHostOptions = {}
  readonly byVolume = new Map<string, FakeVolumeHost>()

  of(volumeUuid: string): FakeVolumeHost {
    const host = this.byVolume.get(volumeUuid) ?? new FakeVolumeHost(this.behaviour)
    this.byVolume.set(volumeUuid, host)
    return host
  }

  readonly activities: VolumeActivities = {
    makeVolume: (input) => this.of(input.volumeUuid).activities.makeVolume(input),
    repairVolume: (input) => this.of(input.volumeUuid).activities.repairVolume(input),
    removeVolume: (input) => this.of(input.volumeUuid).activities.removeVolume(input),
  }
}

const beatMs = 100

function failure(type: HostFailure | 'defect'): ApplicationFailure {
  if (type === 'defect') return ApplicationFailure.create({ message: 'an assertion failed' })
  const nonRetryable = finalHostFailures.includes(type)
  return ApplicationFailure.create({ type, message: `fake ${type}`, nonRetryable })
}
