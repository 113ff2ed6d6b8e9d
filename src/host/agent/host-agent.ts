import { ExitCause } from '../../domain/exit-report.ts'
import type { StartResult, StopResult } from '../../domain/host-work.ts'
import { HostFailure } from '../../domain/host-work.ts'
import type { AgentPorts } from './agent-ports.ts'
import { BootEnd, vmOf } from './boot-end.ts'
import { BootStart } from './boot-start.ts'
import { HostStartError } from './host-start-error.ts'
import { InstanceEntry } from './instance-entry.ts'
import type { StartJob } from './instance-entry.ts'
import { runs } from './instance-record.ts'
import type { InstanceRecord } from './instance-record.ts'
import type { VmName } from '../vmm/vmm.ts'

/** The guest kills the application after its grace; past this, what the guest was to do the agent does. */
const shutdownSlackMs = 3_000
/** The whole halt: half of it for applications to end by themselves. The supervisor waits 10 s for all parts. */
const haltLimitMs = 3_000

/**
 * The core of a host: carries out `HostActivities` on the ports. All state is in the instances' records; this object holds who is
 * at work on what. Any method may be repeated, and a new object on the same directory goes on from there.
 */
export class HostAgent {
  readonly entries: Map<string, InstanceEntry>
  readonly end: BootEnd
  readonly #ports: AgentPorts
  readonly #start: BootStart
  #halting = false

  /** `entries` may be given by a caller that also shows them. */
  constructor(ports: AgentPorts, entries = new Map<string, InstanceEntry>()) {
    this.entries = entries
    this.#ports = ports
    this.end = new BootEnd(ports)
    this.#start = new BootStart(ports, this.end)
    ports.vmm.onExit((vm) => this.#look(vm))
    ports.vmm.onListening((vm) => this.#look(vm))
  }

  /** See `HostActivities.startInstance`. A start of the same boot that is under way is joined. */
  async start(input: { readonly instanceUuid: string; readonly boot: number }): Promise<StartResult> {
    if (this.#halting) throw new HostStartError(HostFailure.BootFailed, 'the host is shutting down')
    const entry = this.entry(input.instanceUuid)
    const { job } = entry
    if (job?.boot === input.boot && !job.controller.signal.aborted) return await job.result
    if (job !== undefined && job.boot < input.boot) job.controller.abort()
    return await this.#newJob(entry, input.boot).result
  }

  /** Ends a start under way, because its caller no longer wants the boot. Resolves when nothing of it is left. */
  async abandon(input: { readonly instanceUuid: string; readonly boot: number }): Promise<void> {
    const job = this.entries.get(input.instanceUuid)?.job
    if (job?.boot !== input.boot) return
    job.controller.abort()
    await job.result.catch(() => undefined)
  }

  /** See `HostActivities.stopInstance`. */
  async stop(input: {
    readonly instanceUuid: string
    readonly boot: number
    readonly forced: boolean
    readonly graceMs: number
  }): Promise<StopResult> {
    const entry = this.entry(input.instanceUuid)
    entry.stopAskedOfBoot = Math.max(entry.stopAskedOfBoot, input.boot)
    await this.#interruptStart(entry, input)
    const { record } = entry
    if (record === undefined || record.boot < input.boot) {
      entry.stoppedThroughBoot = Math.max(entry.stoppedThroughBoot, input.boot)
      return {}
    }
    if (record.boot > input.boot) return {}
    if (record.exit === undefined && !input.forced && runs(record)) {
      await this.#ports.vmm.shutdown(vmOf(record), { graceMs: input.graceMs })
      await entry.ended(input.graceMs + shutdownSlackMs)
    }
    const exit = await entry.queue.run(async () => await this.#endNow(entry, input.boot))
    return exit === undefined ? {} : { exit }
  }

  /** See `HostActivities.removeInstance`. */
  async remove(input: { readonly instanceUuid: string }): Promise<void> {
    const entry = this.entry(input.instanceUuid)
    entry.removed = true
    entry.job?.controller.abort()
    await entry.queue.run(async () => {
      const { record } = entry
      await this.end.kill(entry, 'forced')
      if (record !== undefined) await this.end.release(record)
      await entry.remove()
    })
    this.entries.delete(input.instanceUuid)
  }

  /** Looks at every VM that should run: what could not be recorded when it happened, or went unheard, is found here. */
  async check(): Promise<void> {
    for (const entry of this.entries.values()) {
      if (runs(entry.record)) await entry.queue.run(async () => await this.end.settle(entry))
    }
  }

  /**
   * Ends every VM on the platform's account: applications get half the time to end by themselves. The reports stay on disk
   * for the next agent. Nothing can be started from here on.
   */
  async halt(): Promise<void> {
    this.#halting = true
    this.end.beginHalt()
    await Promise.all(
      [...this.entries.values()].map(async (entry) => {
        entry.job?.controller.abort()
        await entry.job?.result.catch(() => undefined)
        if (!runs(entry.record)) return
        // One that is being stopped has its own, running grace.
        if (entry.stopAskedOfBoot !== entry.record.boot) await this.#askToEnd(entry.record)
        await entry.ended(haltLimitMs)
        await entry.queue.run(async () => await this.end.kill(entry, 'host-halted'))
      }),
    )
  }

  /** Something happened to a VM. */
  #look({ instanceUuid }: VmName): void {
    const entry = this.entries.get(instanceUuid)
    if (entry === undefined) return
    entry.queue
      .run(async () => await this.end.settle(entry))
      .catch((error: unknown) => {
        this.#ports.log.error(
          { instance: instanceUuid, err: error },
          'what became of a VM could not be recorded',
        )
      })
  }

  async #askToEnd(record: InstanceRecord): Promise<void> {
    await this.#ports.vmm.shutdown(vmOf(record), { graceMs: haltLimitMs / 2 }).catch((error: unknown) => {
      this.#ports.log.warn({ instance: record.instanceUuid, err: error }, 'a VM could not be asked to end')
    })
  }

  entry(instanceUuid: string): InstanceEntry {
    const found = this.entries.get(instanceUuid)
    if (found !== undefined) return found
    const made = new InstanceEntry(instanceUuid, this.#ports.store)
    this.entries.set(instanceUuid, made)
    return made
  }

  #newJob(entry: InstanceEntry, boot: number): StartJob {
    const job: StartJob = {
      boot,
      controller: new AbortController(),
      vmAsked: false,
      result: Promise.resolve({} as StartResult),
    }
    job.result = entry.queue
      .run(async () => {
        job.controller.signal.throwIfAborted()
        if (entry.removed)
          throw new HostStartError(HostFailure.UnknownInstance, 'the instance is being removed')
        return await this.#start.run(entry, job)
      })
      .finally(() => {
        if (entry.job === job) entry.job = undefined
      })
    // Its callers may all have gone away; the failure is theirs to see, not the process's.
    job.result.catch(() => undefined)
    entry.job = job
    return job
  }

  /** A forced stop cuts a start off; a gentle one only before there is a VM, which is then asked to end like any other. */
  async #interruptStart(
    entry: InstanceEntry,
    stop: { readonly boot: number; readonly forced: boolean },
  ): Promise<void> {
    const { job } = entry
    if (job === undefined || job.boot > stop.boot) return
    if (stop.forced || !job.vmAsked) job.controller.abort()
    await job.result.catch(() => undefined)
  }

  /** Whatever is left of the boot ends here and now; a boot that never had a VM ends on the books alone. */
  async #endNow(entry: InstanceEntry, boot: number): Promise<StopResult['exit']> {
    const { record } = entry
    if (record?.boot !== boot) return undefined
    const exit = (await this.end.settle(entry)) ?? (await this.end.kill(entry, 'forced'))
    if (exit !== undefined) return exit
    const never = { boot, cause: ExitCause.Forced, applicationStarted: false, atMs: this.#ports.nowMs() }
    return await this.end.finish(entry, record, never)
  }
}
