import { Deletion, EventKind, Phase, phaseOf } from '../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleEvent } from '../../src/domain/instance/lifecycle-state.ts'
import type { ScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import { leaseKeptMs } from '../../src/domain/standby/lease-protocol.ts'
import { SimulatedGateway } from './simulated-gateway.ts'
import type { Request, ToGateway, ToHost } from './simulated-gateway.ts'
import { SimulatedHost } from './simulated-host.ts'
import { SimulatedWorkflow } from './simulated-workflow.ts'
import { Dice, VirtualTime } from './virtual-time.ts'

export interface Faults {
  readonly lostCalls: number
  readonly failedStarts: number
  readonly brokenLines: boolean
  readonly restarts: boolean
  readonly crashes: boolean
  /** Starts, stops and deletes by hand. */
  readonly byHand: boolean
}

/** How long things happen, and how long it may take then until all is quiet. */
const eventfulMs = 30_000
const untilQuietMs = 120_000
/** A peer that tries to connect repeats itself, and gives up at last. */
const peerRepeatMs = 1_000
const mostPackets = 10
/** Until a gateway knows of a start, where nothing is late. */
const mostNewsMs = 150

/**
 * One instance, two gateways, its host and its workflow, with everything between them that can be late, lost
 * or repeated.
 */
export class Simulation {
  readonly time = new VirtualTime()
  readonly dice: Dice
  readonly faults: Faults
  readonly scaleToZero: ScaleToZero
  readonly workflow: SimulatedWorkflow
  readonly host: SimulatedHost
  readonly gateways: readonly SimulatedGateway[]
  readonly requests: Request[] = []
  readonly violations: string[] = []
  readonly log: string[] = []
  /** The user said so: traffic may be refused. */
  #byHand = false
  /** Nothing fails any more. */
  quiet = false
  #newsMs = Infinity

  constructor(seed: number) {
    this.dice = new Dice(seed)
    const { dice } = this
    const calm = dice.happens(0.3)
    this.faults = {
      lostCalls: calm ? 0 : dice.pick([0, 0.05, 0.3]),
      failedStarts: calm ? 0 : dice.pick([0, 0, 0.3]),
      brokenLines: !calm && dice.happens(0.5),
      restarts: !calm && dice.happens(0.5),
      crashes: !calm && dice.happens(0.3),
      byHand: !calm && dice.happens(0.5),
    }
    this.scaleToZero = {
      policy: 'on',
      cooldownMs: dice.pick([0, 50, 300, 1_000, 4_000]),
      stateful: dice.happens(0.5),
    }
    this.host = new SimulatedHost(this)
    this.gateways = [new SimulatedGateway(this, 'a'), new SimulatedGateway(this, 'b')]
    this.workflow = new SimulatedWorkflow(this, {
      autostart: dice.happens(0.5),
      scaleToZero: this.scaleToZero,
    })
  }

  async run(): Promise<readonly string[]> {
    this.workflow.align()
    for (const gateway of this.gateways) gateway.connect()
    const endMs = this.time.nowMs + eventfulMs
    for (let count = this.dice.within(3, 40); count > 0; count -= 1) {
      this.time.after(this.dice.within(0, eventfulMs), () => this.#somethingHappens())
    }
    const look = (): void => this.#look()
    await this.time.runUntil(endMs, look)
    this.quiet = true
    for (const gateway of this.gateways) gateway.connect()
    await this.time.runUntil(endMs + untilQuietMs, look)
    await this.#wakeByPeer(look)
    this.#lookAtTheEnd()
    return this.violations
  }

  /** A peer that repeats its first packet wakes a sleeper, whatever was noticed of peers before. */
  async #wakeByPeer(look: () => void): Promise<void> {
    if (phaseOf(this.workflow.life) !== Phase.Standby) return
    for (let sent = 0; !this.host.peerSends(); sent += 1) {
      if (sent === mostPackets) {
        this.check(false, 'a peer has sent to a sleeper, and it does not wake')
        return
      }
      await this.time.runUntil(this.time.nowMs + peerRepeatMs, look)
    }
    await this.time.runUntil(this.time.nowMs + untilQuietMs, look)
  }

  #somethingHappens(): void {
    const { dice, faults, host } = this
    const gateway = dice.pick(this.gateways)
    const happenings: (() => void)[] = Array.from({ length: 6 }, () => () => this.#request(gateway))
    happenings.push(() => {
      // The repeat of the first one comes a second later.
      for (const lateMs of [0, peerRepeatMs]) this.time.after(lateMs, () => host.peerSends())
    })
    if (faults.byHand)
      happenings.push(
        () => this.#command(),
        () => this.#command(),
      )
    if (faults.crashes) happenings.push(() => host.crash())
    if (faults.restarts) {
      happenings.push(
        () => host.restart(),
        () => gateway.restart(),
        () => {
          this.workflow.awayUntilMs = this.time.nowMs + dice.within(100, 5_000)
        },
      )
    }
    if (faults.brokenLines) happenings.push(() => gateway.breakLine())
    dice.pick(happenings)()
    // A host that was started again, and a line that broke, are found again.
    for (const each of this.gateways) this.time.after(dice.within(10, 9_000), () => each.connect())
  }

  #request(gateway: SimulatedGateway): void {
    const together = this.dice.pick([1, 1, 1, 5])
    for (let nth = 0; nth < together; nth += 1) {
      const request: Request = { id: this.requests.length + 1, outcome: 'waiting', boots: [] }
      this.requests.push(request)
      this.note(`gateway ${gateway.name}: request ${request.id}`)
      gateway.request(request)
    }
  }

  #command(): void {
    const { dice, workflow } = this
    this.#byHand = true
    const drainTimeoutMs = dice.pick([0, 2_000])
    const stop: LifecycleEvent = { kind: EventKind.Stop, force: dice.happens(0.3), drainTimeoutMs }
    const start: LifecycleEvent = { kind: EventKind.Start }
    workflow.say(dice.happens(0.05) ? { kind: EventKind.Delete } : dice.pick([start, stop]))
  }

  /** The application has it from here on; it ends with the VM. */
  arrives(gateway: SimulatedGateway, request: Request, boot: number): void {
    const { vm } = this.host
    this.check(new Set(request.boots).size === 1, `request ${request.id} was sent to two boots`)
    if (vm?.boot === boot) {
      this.time.after(this.dice.pick([1, 5, 50, 500, 6_000]), () => gateway.answered(request))
      return
    }
    const ended = this.#byHand || this.faults.crashes || this.faults.failedStarts > 0
    const found = String(vm?.boot ?? 'none')
    this.check(ended, `request ${request.id} was sent to boot ${boot} while there was ${found}`)
    gateway.broken(request)
  }

  /** What is under way when a VM goes down is broken; in standby that must not be. */
  goesDown(how: 'sleeps' | 'ends'): void {
    for (const gateway of this.gateways) {
      for (const request of gateway.underWay) {
        // A gateway that is silent for too long has lost its leases.
        const silent = !gateway.connected && this.time.nowMs - gateway.lostAtMs >= leaseKeptMs
        const proper = how === 'ends' || silent
        this.check(proper, `request ${request.id} was under way when its instance went to standby`)
        gateway.broken(request)
      }
    }
  }

  cutOff(gateway: SimulatedGateway, request: Request): void {
    const { vm } = this.host
    this.check(vm?.boot !== request.boots.at(-1), `request ${request.id} was cut off from a VM that runs`)
    gateway.broken(request)
  }

  refused(gateway: SimulatedGateway, request: Request, reason: string): void {
    this.note(`gateway ${gateway.name}: request ${request.id} refused, ${reason}`)
    const proper =
      this.#byHand ||
      this.faults.crashes ||
      (reason === 'failed' && this.faults.failedStarts > 0) ||
      (reason === 'stopped' && (this.faults.failedStarts > 0 || !this.#isKnown())) ||
      (reason === 'host-away' && (this.faults.brokenLines || this.faults.restarts))
    this.check(proper, `request ${request.id} was refused: ${reason}`)
  }

  /** Gateways refuse what the host did not know a moment ago until the feed says that it runs. */
  #isKnown(): boolean {
    const { knownAtMs = Infinity } = this.host
    return knownAtMs + mostNewsMs < this.time.nowMs && this.#newsMs + mostNewsMs < this.time.nowMs
  }

  toHost(gateway: SimulatedGateway, connection: number, message: ToHost): void {
    this.#inOrder(`${gateway.name} to host ${connection}`, () => {
      if (gateway.connection === connection && gateway.connected) this.host.hear(gateway, message)
    })
  }

  toGateway(name: string, message: ToGateway): void {
    const gateway = this.gateways.find((each) => each.name === name)
    if (gateway?.connected !== true) return
    const { connection } = gateway
    this.#inOrder(`host to ${name} ${connection}`, () => {
      if (gateway.connection === connection && gateway.connected) gateway.hear(message)
    })
  }

  readonly #lastArrival = new Map<string, number>()

  /** Lines keep their order, whatever each message takes. */
  #inOrder(line: string, arrive: () => void): void {
    const earliestMs = this.#lastArrival.get(line) ?? 0
    const atMs = Math.max(earliestMs, this.time.nowMs + this.dice.pick([0, 1, 1, 20]))
    this.#lastArrival.set(line, atMs)
    this.time.after(atMs - this.time.nowMs, arrive)
  }

  /** At least once, in any order, as long as it holds. */
  signal(event: LifecycleEvent, holds: () => boolean = () => true): void {
    const copies = this.dice.happens(this.faults.lostCalls) ? 2 : 1
    for (let nth = 0; nth < copies; nth += 1) {
      const lateMs = this.dice.happens(this.faults.lostCalls)
        ? this.dice.within(100, 6_000)
        : this.dice.within(1, 30)
      this.time.after(lateMs, () => {
        if (holds()) this.workflow.say(event)
      })
    }
  }

  /** The row changed, and the feed of routes says so. */
  news(): void {
    this.#newsMs = this.time.nowMs
    for (const gateway of this.gateways) {
      this.time.after(this.dice.within(5, 50), () => {
        gateway.tell({ kind: 'news' })
      })
    }
  }

  check(holds: boolean, what: string): void {
    if (holds) return
    this.violations.push(`${String(this.time.nowMs - 1_000_000)} ms: ${what}`)
    this.note(`VIOLATION: ${what}`)
  }

  note(text: string): void {
    this.log.push(`${String(this.time.nowMs - 1_000_000).padStart(7)} ${text}`)
  }

  #look(): void {
    const { life } = this.workflow
    if (life.state === Phase.Standby) this.check(life.permit === life.boot + 1, 'standby without its permit')
    const isDown = phaseOf(life) === Phase.Stopped || phaseOf(life) === Phase.Deleted
    if (isDown && life.permit === undefined)
      this.check(this.host.permit === undefined, `${phaseOf(life)}, and the host has a permit`)
  }

  #lookAtTheEnd(): void {
    const { life } = this.workflow
    const phase = phaseOf(life)
    const { vm, permit } = this.host
    const settled: readonly Phase[] = [Phase.Standby, Phase.Stopped, Phase.Deleted]
    this.check(settled.includes(phase), `still ${phase} when nothing has happened for two minutes`)
    this.check(vm === undefined, `a VM of boot ${String(vm?.boot)} is left in ${phase}`)
    if (phase === Phase.Standby)
      this.check(permit === life.permit, `permits differ: ${String(permit)}, ${String(life.permit)}`)
    else this.check(permit === undefined, `the host has permit ${String(permit)} in ${phase}`)
    if (life.deletion === Deletion.Wanted) this.check(false, 'it is still being deleted')
    const lost = this.requests.filter(({ outcome }) => outcome === 'waiting' || outcome === 'under way')
    this.check(lost.length === 0, `requests ${lost.map(({ id }) => id).join(', ')} were never answered`)
    this.check(this.quiet, 'it did not come to its end')
  }
}
