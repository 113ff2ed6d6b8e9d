import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExitReport } from '../../../src/domain/instance/exit-report.ts'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import type { HostEvent, VolumeEvent } from '../../../src/domain/instance/host-work.ts'
import { noScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import type { ScaleToZero } from '../../../src/domain/standby/scale-to-zero.ts'
import { VolumePlace } from '../../../src/domain/host/api-protocol.ts'
import type { LaunchSpec, LaunchVolume } from '../../../src/domain/host/api-protocol.ts'
import type { StartReport } from '../../../src/domain/instance/start-report.ts'
import type { AgentPorts } from '../../../src/host/agent/agent-ports.ts'
import { endlessDisk } from '../../../src/host/disk-room.ts'
import type { DiskAdmission } from '../../../src/host/disk-room.ts'
import { dueEvents, EventOutbox } from '../../../src/host/instance/event-outbox.ts'
import type { HostEvents } from '../../../src/host/instance/event-outbox.ts'
import { EventPace } from '../../../src/host/instance/event-pace.ts'
import { HaltMarker } from '../../../src/host/agent/halt-marker.ts'
import { HostAgent } from '../../../src/host/agent/host-agent.ts'
import { HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { HttpTransfers } from '../../../src/host/moves/http-transfers.ts'
import type { Transfers } from '../../../src/host/moves/transfers.ts'
import { InstanceStore } from '../../../src/host/instance/store.ts'
import { recover } from '../../../src/host/agent/recovery.ts'
import { FakeImages } from '../../../src/host/fakes/fake-images.ts'
import type { FakeImagesOptions } from '../../../src/host/fakes/fake-images.ts'
import { FakeNetwork } from '../../../src/host/fakes/fake-network.ts'
import { FakeVms } from '../../../src/host/fakes/fake-vms.ts'
import type { FakeVmmOptions } from '../../../src/host/fakes/fake-vmm.ts'
import { until } from '../../support/until.ts'
import { WatchedVmm, WatchedVolumes } from '../volumes/agent-volume-watch.ts'
import { Crash } from './crash.ts'

export const uuid = '00000000-0000-4000-8000-000000000001'
export const otherUuid = '00000000-0000-4000-8000-000000000002'
export const volumeUuid = '00000000-0000-4000-8000-00000000000f'

export interface AgentOptions {
  readonly crash?: Crash
  readonly vmm?: FakeVmmOptions
  readonly images?: FakeImagesOptions
  /** Temporal's answers to the first signals, in order. All further answers are `taken`. */
  readonly events?: readonly ('fail' | 'gone')[]
  /**
   * How often the instances of one user may go to sleep in a minute. If absent, more often than any test
   * needs.
   */
  readonly sleepsPerMinute?: number
}

/** Longer than anything takes that does not hang. */
const hangMs = 30_000

/**
 * One machine of a timeline, with everything that survives its agents. Tests kill and start agents on it.
 */
export class Machine {
  readonly host = new FakeVms()
  readonly network = new FakeNetwork()
  failVolumeEvents = false
  readonly broken: string[] = []
  readonly clean = new Set<string>()
  volumes: WatchedVolumes
  /** The events that volumes' workflows took. */
  readonly volumeEvents: (VolumeEvent & { readonly volumeUuid: string })[] = []
  /** Every report that a workflow took. */
  readonly reports: ExitReport[] = []
  /** The ledger of the machine's disk. A test sets it before it starts the agent that uses it. */
  disk: DiskAdmission = endlessDisk
  /** The start reports that workflows got as events, besides the answers to their calls. */
  readonly starts: StartReport[] = []
  /** The kinds of all events that workflows took, in order. */
  readonly told: string[] = []
  readonly events: HostEvent[] = []
  readonly specs = new Map<string, LaunchSpec>()
  /** Which hosts the rows of volumes name, as seen from here. Undefined: the API does not answer. */
  placeOf: Map<string, VolumePlace> | undefined = new Map()
  readonly directory: string
  nowMs = 1_000_000
  /** Why the host may start no VM now; undefined if it may. */
  refusal: string | undefined
  bootId = 'boot-1'
  /** Its address in the mesh, by which instances move. Undefined: it is in none. */
  meshAddress: string | undefined
  readonly #agents: LiveAgent[] = []

  constructor(directory: string) {
    this.directory = directory
    this.volumes = new WatchedVolumes(this, { directory: join(directory, 'contents') })
    for (const [index, each] of [uuid, otherUuid].entries()) this.specs.set(each, launchSpec(each, index + 2))
  }

  static async make(): Promise<Machine> {
    return new Machine(await mkdtemp(join(tmpdir(), 'roost-agent-')))
  }

  async remove(): Promise<void> {
    // An agent that goes on, or a write that is under way, would make files in the directory during its
    // deletion.
    for (const live of this.#agents) live.kill()
    await Promise.all(this.#agents.map(async (live) => await live.written()))
    this.host.reboot()
    await rm(this.directory, { recursive: true, force: true })
    assert.deepEqual(this.broken, [], 'a volume was touched')
  }

  /** Sets how the applications of all instances behave from their next start on; see `FakeVmm`. */
  runs(...args: string[]): void {
    for (const [key, spec] of this.specs) this.specs.set(key, { ...spec, args: ['app', ...args] })
  }

  /** Puts a volume into the instance's next launch spec. */
  attach(instanceUuid: string, volume: Partial<LaunchVolume> = {}): void {
    const spec = this.specs.get(instanceUuid)
    assert.ok(spec !== undefined)
    const base = { uuid: volumeUuid, sizeMb: 100, made: false, at: '/data', readonly: false }
    this.specs.set(instanceUuid, { ...spec, volume: { ...base, ...volume } })
  }

  scalesToZero(scaleToZero: ScaleToZero): void {
    for (const [key, spec] of this.specs) this.specs.set(key, { ...spec, scaleToZero })
  }

  /** Starts a new agent on this machine. `recovered` resolves when it takes work. */
  agent(options: AgentOptions = {}): LiveAgent {
    const live = new LiveAgent(this, options)
    this.#agents.push(live)
    return live
  }

  async readyAgent(options: AgentOptions = {}): Promise<LiveAgent> {
    const live = this.agent(options)
    await live.recovered()
    return live
  }
}

export class LiveAgent {
  readonly agent: HostAgent
  readonly ports: AgentPorts
  readonly outbox: EventOutbox
  readonly log: string[] = []
  /** How this agent's wakes started their VMs: by a boot, from a template or from a snapshot. */
  readonly wakes: string[] = []
  readonly #machine: Machine
  readonly #transfers: HttpTransfers | undefined
  readonly #crash: Crash
  readonly #marker: HaltMarker

  constructor(machine: Machine, options: AgentOptions) {
    this.#machine = machine
    this.#crash = options.crash ?? new Crash()
    this.#marker = new HaltMarker(machine.directory)
    const { meshAddress: address, network } = machine
    this.#transfers =
      address === undefined ? undefined : new HttpTransfers({ address, network, log: this.#quiet() })
    const wrap = <T extends object>(name: string, port: T): T => this.#crash.wrap(name, port)
    this.ports = {
      vmm: wrap('vmm', new WatchedVmm(machine, () => machine.volumes, options.vmm ?? {})),
      network: wrap('network', machine.network),
      images: wrap('images', new FakeImages(options.images)),
      volumes: wrap('volumes', machine.volumes),
      volumeEvents: wrap('volumeEvents', this.#volumeEvents()),
      launches: wrap('launches', {
        launchSpec: async (each: string) => await this.#spec(each),
        placeOfVolume: async (each: string) => await this.#placeOfVolume(each),
      }),
      store: wrap('store', new InstanceStore(machine.directory)),
      disk: machine.disk,
      ...(this.#transfers !== undefined && { transfers: wrap('transfers', this.#transfers as Transfers) }),
      observer: {
        started: () => undefined,
        waited: () => undefined,
        startFailed: () => undefined,
        ended: () => undefined,
        woke: (kind) => this.wakes.push(kind),
        wakeFailed: () => undefined,
        slept: () => undefined,
        standByRefused: () => undefined,
        stalled: () => undefined,
      },
      log: this.#quiet(),
      nowMs: () => machine.nowMs,
      term: { refusal: () => machine.refusal },
      hostBootId: machine.bootId,
    }
    this.agent = new HostAgent(this.ports)
    const events = wrap('events', this.#events(options.events ?? []))
    const pace = new EventPace({
      sleepsPerMinute: options.sleepsPerMinute ?? 100_000,
      nowMs: () => performance.now(),
    })
    this.outbox = new EventOutbox({
      entries: () => this.agent.entries.values(),
      events,
      pace,
      log: this.ports.log,
    })
    this.agent.end.onNews(() => {
      this.outbox.wake()
    })
  }

  async recovered(): Promise<void> {
    await mkdir(this.#machine.directory, { recursive: true })
    await recover({ agent: this.agent, ports: this.ports, haltedAtMs: await this.#marker.read() })
    await this.#marker.clear()
    this.outbox.wake()
  }

  /** Resolves when the record says when the first socket of the instance listened. */
  async listened(): Promise<void> {
    await until('a socket listens', () => this.agent.entries.get(uuid)?.record?.started?.netTimeUs, {
      limitMs: hangMs,
    })
  }

  /** Resolves when all reports have been sent, and the disk says so. */
  async reported(): Promise<void> {
    const deadlineMs = performance.now() + hangMs
    const pending = (): boolean =>
      [...this.agent.entries.values()].some((entry) => dueEvents(entry).length > 0)
    while (pending() && !this.#crash.dead) {
      assert.ok(performance.now() < deadlineMs, `an event was not reported within ${hangMs / 1_000} s`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Kills the agent like `kill -9`. */
  kill(): void {
    this.#crash.now()
    this.bury()
  }

  /** Resolves when the agent's last writes are on disk. */
  async written(): Promise<void> {
    await this.#crash.written()
  }

  /** Ends the timers of an agent that died. The results for which it waited never come. */
  bury(): void {
    void this.outbox.close()
    void this.#transfers?.close()
    this.#machine.host.endMirrors()
  }

  /** Halts the agent as `src/bin/agent.ts` does on SIGINT. */
  async halt(): Promise<void> {
    await this.#marker.set(this.#machine.nowMs)
    await Promise.all([this.outbox.close(), this.agent.halt()])
  }

  #quiet(): AgentPorts['log'] {
    return {
      info: () => undefined,
      warn: (_, message) => this.log.push(message),
      error: (_, message) => this.log.push(message),
    }
  }

  async #spec(instanceUuid: string): Promise<LaunchSpec> {
    const spec = this.#machine.specs.get(instanceUuid)
    // This is the API's answer for a deleted instance.
    if (spec === undefined) throw new HostStartError(HostFailure.UnknownInstance, 'it is not placed here')
    return await Promise.resolve(spec)
  }

  async #placeOfVolume(each: string): Promise<VolumePlace> {
    const { placeOf } = this.#machine
    if (placeOf === undefined) throw new Error('the API does not answer')
    return await Promise.resolve(placeOf.get(each) ?? VolumePlace.Nowhere)
  }

  #volumeEvents(): AgentPorts['volumeEvents'] {
    return {
      tell: async (volumeUuid, event) => {
        if (this.#machine.failVolumeEvents) throw new Error('Temporal is away')
        this.#machine.volumeEvents.push({ ...event, volumeUuid })
        return await Promise.resolve('taken')
      },
    }
  }

  #events(answers: readonly ('fail' | 'gone')[]): HostEvents {
    let calls = 0
    return {
      tell: async (_, event) => {
        const answer = answers[calls]
        calls += 1
        if (answer === 'fail') throw new Error('Temporal is away')
        if (answer === undefined) {
          this.#machine.told.push(event.kind)
          if (event.kind === 'exited') this.#machine.reports.push(event.exit)
          else if (event.kind === 'started') this.#machine.starts.push(event.started)
          this.#machine.events.push(event)
        }
        return await Promise.resolve(answer ?? 'taken')
      },
    }
  }
}

function launchSpec(instanceUuid: string, host: number): LaunchSpec {
  return {
    uuid: instanceUuid,
    name: `instance-${String(host)}`,
    userUuid: '00000000-0000-4000-8000-00000000000a',
    image: `user/app@sha256:${'0'.repeat(64)}`,
    memoryMb: 128,
    vcpus: 1,
    env: {},
    privateIp: `10.64.0.${String(host)}`,
    mac: `12:b0:0a:40:00:0${String(host)}`,
    scaleToZero: noScaleToZero,
  }
}
