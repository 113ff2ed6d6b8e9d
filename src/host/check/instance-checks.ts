import { maxHostChecks } from '../../domain/rollout/check.ts'
import type { CheckResult, InstanceCheck } from '../../domain/rollout/check.ts'
import type { StartReport } from '../../domain/instance/start-report.ts'
import { checkLeasePrefix } from '../../domain/standby/lease-protocol.ts'
import type { OpenRefusal } from '../../domain/standby/lease-protocol.ts'
import type { InstanceEntry } from '../instance/entry.ts'
import { HoldRefused, InstanceHold } from '../leases/instance-hold.ts'
import type { LeasesForHolds, TakenHold } from '../leases/instance-hold.ts'
import { probeApplication } from './application-probe.ts'

/**
 * Makes checks: wakes the instance if it sleeps, keeps it awake by a lease, and looks whether its
 * application answers. It connects to the instance's own address only, which the host has recorded.
 */
export class InstanceChecks {
  readonly #leases: LeasesForHolds
  readonly #entries: ReadonlyMap<string, Pick<InstanceEntry, 'record'>>
  readonly #nowMs: () => number
  #running = 0

  constructor(options: {
    readonly leases: LeasesForHolds
    readonly entries: ReadonlyMap<string, Pick<InstanceEntry, 'record'>>
    readonly nowMs: () => number
  }) {
    this.#leases = options.leases
    this.#entries = options.entries
    this.#nowMs = options.nowMs
  }

  /**
   * Returns undefined if the host makes as many checks as it may. Throws what `gone` aborts with, when
   * nobody waits for the result any more.
   */
  async check(instance: string, check: InstanceCheck, gone: AbortSignal): Promise<CheckResult | undefined> {
    if (this.#running >= maxHostChecks) return undefined
    this.#running += 1
    try {
      return await this.#checkAwake(instance, check, gone)
    } finally {
      this.#running -= 1
    }
  }

  async #checkAwake(instance: string, check: InstanceCheck, gone: AbortSignal): Promise<CheckResult> {
    const taken = await this.#hold(instance, check, gone)
    if (typeof taken === 'string') return { ok: false, why: taken }
    const { hold, reach, hasWaited } = taken
    try {
      const place = reach[check.port]
      const record = this.#entries.get(instance)?.record
      const privateIp = record?.nic.ip
      const isComingUp = hasWaited || this.#upForMs(record?.started) < check.timeoutMs
      if (place === undefined || privateIp === undefined) return { ok: false, why: unreachable(check) }
      const signal = AbortSignal.any([gone, hold.ended])
      return await probeApplication({ ...place, privateIp, signal, isComingUp }, check)
    } catch (error) {
      gone.throwIfAborted()
      if (hold.ended.aborted) return { ok: false, why: 'the instance ended during the check' }
      throw error
    } finally {
      hold.release()
    }
  }

  /** How long ago the application began. */
  #upForMs(started: StartReport | undefined): number {
    if (started === undefined) return Infinity
    return this.#nowMs() - started.startedAtMs - started.bootTimeUs / 1_000
  }

  /** Returns why the instance is not awake if it is not. */
  async #hold(
    instance: string,
    { port, timeoutMs }: InstanceCheck,
    gone: AbortSignal,
  ): Promise<TakenHold | string> {
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      const signal = AbortSignal.any([gone, limit])
      return await InstanceHold.take(this.#leases, {
        instance,
        prefix: checkLeasePrefix,
        ports: [port],
        signal,
      })
    } catch (error) {
      gone.throwIfAborted()
      if (error instanceof HoldRefused) return whyRefused(error)
      if (limit.aborted) return `the instance did not come up within ${String(timeoutMs)} ms`
      throw error
    }
  }
}

const refusals: Readonly<Record<OpenRefusal['reason'], string>> = {
  stopped: 'the instance does not run',
  draining: 'the instance is shutting down',
  unknown: 'the host does not know the instance',
  failed: 'the instance could not be started',
}

function whyRefused({ reason, message }: HoldRefused): string {
  return reason === 'failed' ? `${refusals.failed}: ${message}` : refusals[reason]
}

/** Without root the host reaches only the ports that were forwarded when the VM started. */
function unreachable({ port }: InstanceCheck): string {
  return `the host can not reach port ${String(port)} of the instance: its agent is not root`
}
