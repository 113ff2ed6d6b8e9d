import { HostFailure } from '../../src/domain/instance/host-work.ts'
import type { HostEvent } from '../../src/domain/instance/host-work.ts'
import type { ScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import type { LaunchSpec } from '../../src/domain/host/api-protocol.ts'
import { beatIntervalMs, leaseKeptMs } from '../../src/domain/standby/lease-protocol.ts'
import type { GatewayMessage, HostMessage } from '../../src/domain/standby/lease-protocol.ts'
import type { AgentPorts } from '../../src/host/agent/agent-ports.ts'
import { endlessDisk } from '../../src/host/disk-room.ts'
import { EventOutbox } from '../../src/host/instance/event-outbox.ts'
import { EventPace } from '../../src/host/instance/event-pace.ts'
import { leaseEvent } from '../../src/host/leases/gateway-messages.ts'
import type { GatewayLine } from '../../src/host/leases/host-leases.ts'
import { HostAgent } from '../../src/host/agent/host-agent.ts'
import { HostStartError } from '../../src/host/instance/host-start-error.ts'
import { TransferError } from '../../src/host/moves/transfers.ts'
import type { Transfers } from '../../src/host/moves/transfers.ts'
import { recover } from '../../src/host/agent/recovery.ts'
import { FakeImages } from '../../src/host/fakes/fake-images.ts'
import type { FakeNetwork } from '../../src/host/fakes/fake-network.ts'
import { FakeVolumes } from '../../src/host/fakes/fake-volumes.ts'
import type { SimConfiguration } from './commands.ts'
import type { SimDisk } from './disk.ts'
import type { LineEnd, LineEvents } from './line.ts'
import type { SimMachine } from './machine.ts'
import { mortal } from './mortal.ts'
import { slowNetwork } from './network.ts'
import type { World } from './world.ts'

/** The address of the one instance. */
export const privateIp = '10.64.0.2'

export interface HostOptions {
  readonly world: World
  readonly machine: SimMachine
  readonly disk: SimDisk
  readonly instanceUuid: string
  readonly settings: ScaleToZero
  readonly configuration: SimConfiguration
  /** Tells the instance's workflow of an event. Rejects if the workflow can not be reached. */
  readonly tell: (event: HostEvent) => Promise<'taken' | 'gone'>
  /** Whether the API gives launch specs at present. */
  readonly apiIsUp: () => boolean
  readonly instanceExists: () => boolean
  readonly onComplaint: (message: string) => void
  /** Called before an agent dies. */
  readonly onDeath: () => void
}

/** Instances are held in this simulation, but no host fetches them. */
const noTransfers: Transfers = {
  serve: async () => await Promise.resolve(1),
  copyOf: async () => await Promise.reject(new TransferError('there is no other host')),
  fetchFile: async () => await Promise.reject(new TransferError('there is no other host')),
  followVolume: async () => await Promise.reject(new Error('no life has a volume to copy')),
  tellTaken: async () => await Promise.resolve(),
  close: async () => await Promise.resolve(),
}

export class LiveAgent {
  readonly core: HostAgent
  ready = false
  alive = true
  readonly death: Promise<undefined>
  readonly #died: () => void
  readonly #options: HostOptions
  readonly #ports: AgentPorts
  readonly #outbox: EventOutbox
  readonly #lines = new Set<LineEnd<HostMessage>>()

  constructor(options: HostOptions, network: FakeNetwork, hostBootId: string) {
    this.#options = options
    let died = (): void => undefined
    this.death = new Promise((resolve) => {
      died = () => {
        resolve(undefined)
      }
    })
    this.#died = died
    const { world, machine, disk } = options
    const own = <T extends object>(port: T): T => mortal(port, this)
    const quiet = (): void => undefined
    this.#ports = {
      vmm: own(machine.vmm(this)),
      network: own(slowNetwork(world, network)),
      images: own(new FakeImages()),
      volumes: own(new FakeVolumes()),
      volumeEvents: own({ tell: async () => await Promise.resolve('taken' as const) }),
      launches: own({
        launchSpec: async () => await this.#launchSpec(),
        placeOfVolume: async () => await Promise.resolve('nowhere' as const),
      }),
      store: own(disk.store()),
      disk: endlessDisk,
      transfers: own(noTransfers),
      observer: {
        started: quiet,
        waited: () => undefined,
        startFailed: quiet,
        ended: quiet,
        woke: quiet,
        wakeFailed: quiet,
        slept: quiet,
        standByRefused: (reason) => {
          if (this.alive) world.note(`agent refuses standby: ${reason}`)
        },
        stalled: quiet,
      },
      log: { info: quiet, warn: quiet, error: (fields, message) => this.#logError(fields, message) },
      nowMs: () => world.nowMs,
      hostBootId,
    }
    this.core = new HostAgent(this.#ports)
    const events = own({ tell: async (_: string, event: HostEvent) => await options.tell(event) })
    const entries = () => this.core.entries.values()
    const pace = new EventPace({ sleepsPerMinute: 100_000, nowMs: () => world.nowMs })
    this.#outbox = new EventOutbox({ entries, events, pace, log: this.#ports.log })
    this.core.end.onNews(() => {
      if (this.alive) this.#outbox.wake()
    })
  }

  async begin(): Promise<void> {
    await recover({ agent: this.core, ports: this.#ports, haltedAtMs: undefined })
    if (!this.alive) return
    this.ready = true
    this.#options.world.note('agent takes work')
    this.#outbox.wake()
    this.#check()
  }

  /**
   * Ends the agent. If its machine goes on, the machine closes the agent's lines, so the gateways hear of it.
   * Nobody closes the lines of a machine that has lost its power.
   */
  die({ powerLost }: { readonly powerLost: boolean }): void {
    this.alive = false
    this.ready = false
    this.#died()
    void this.#outbox.close()
    this.core.leases.close()
    if (!powerLost) for (const line of this.#lines) line.close()
  }

  /**
   * Makes the agent take the message of a failed start as already written. Otherwise the agent would write
   * the message to the instance's console, which the simulation does not have.
   */
  complained(message: string): void {
    this.core.entry(this.#options.instanceUuid).lastComplaint = message
  }

  accept(
    lineOf: (events: LineEvents<GatewayMessage>) => LineEnd<HostMessage>,
    heard: (gatewayId: string) => void,
  ): void {
    const { world, instanceUuid } = this.#options
    const { leases } = this.core
    let gatewayId = ''
    let lastWordMs = world.nowMs
    let pending = Promise.resolve()
    const end = lineOf({
      hear: (message) => {
        if (!this.alive) return
        lastWordMs = world.nowMs
        if (message.kind === 'hello') {
          gatewayId = message.gatewayId
          heard(gatewayId)
          world.note(`${gatewayId} says hello with the shares ${JSON.stringify(message.shares)}`)
          end.send({ kind: 'welcome', nodeId: 'node' })
          leases.connect(line, message.held, message.shares)
          return
        }
        heard(gatewayId)
        if (!('instance' in message)) return
        if (message.instance !== instanceUuid) throw new Error('another instance')
        world.note(`${gatewayId} says ${JSON.stringify({ ...message, instance: undefined })}`)
        leases.hear(line, instanceUuid, leaseEvent(message, gatewayId))
      },
      closed: (byPeer) => {
        this.#lines.delete(end)
        if (this.alive && gatewayId !== '') leases.disconnect(line, lastWordMs, byPeer)
      },
    })
    this.#lines.add(end)
    const line: GatewayLine = {
      get gatewayId() {
        return gatewayId
      },
      send: (message) => {
        pending = Promise.all([message, pending]).then(([ready]) => {
          if (!this.alive || end.closed) return
          world.note(
            `host to ${gatewayId}: ${JSON.stringify({ ...ready, instance: undefined, reach: undefined })}`,
          )
          end.send(ready)
        })
      },
      end: () => {
        end.close()
      },
    }
    const beat = (): void => {
      if (!this.alive || end.closed) return
      if (world.nowMs - lastWordMs >= leaseKeptMs) end.close()
      else end.send({ kind: 'beat' })
      world.after(beatIntervalMs, beat)
    }
    world.after(beatIntervalMs, beat)
  }

  #check(): void {
    if (!this.alive) return
    void this.core.check()
    this.#options.world.after(10_000, () => {
      this.#check()
    })
  }

  #logError(fields: object, message: string): void {
    if (!this.alive) return
    const { err } = fields as { err?: unknown }
    // Work that fails because the API is away is no defect.
    if (err instanceof HostStartError) return
    this.#options.world.fail(
      `the agent met something it did not foresee: ${message}: ${String((err as Error | undefined)?.stack ?? err)}`,
    )
  }

  async #launchSpec(): Promise<LaunchSpec> {
    const { world, settings, configuration, instanceUuid, apiIsUp, instanceExists } = this.#options
    await world.sleep(world.dice.stretched(1, 50))
    if (!instanceExists()) throw new HostStartError(HostFailure.UnknownInstance, 'no such instance')
    if (!apiIsUp()) {
      const message = 'the API gave no launch spec'
      this.#options.onComplaint(message)
      throw new HostStartError(HostFailure.BootFailed, message)
    }
    return {
      uuid: instanceUuid,
      name: 'sim',
      userUuid: '00000000-0000-4000-8000-00000000000a',
      image: `user/app@sha256:${'0'.repeat(64)}`,
      memoryMb: 128,
      vcpus: 1,
      env: {},
      privateIp,
      mac: '12:b0:0a:40:00:02',
      scaleToZero: settings,
      configVersion: configuration.now.version,
    }
  }
}
