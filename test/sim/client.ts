import type { InstanceAdmission } from '../../src/gateway/balance/instance-admission.ts'
import type { Admission, Refusal } from '../../src/gateway/traffic.ts'
import type { Outcome, Trip } from './flights.ts'
import type { SimGateway } from './gateway.ts'
import type { SimMachine, SimVm } from './machine.ts'
import type { World } from './world.ts'

export interface ClientOptions {
  readonly world: World
  readonly machine: SimMachine
  /** Called once for every outcome. */
  readonly onOutcome: (trip: Trip) => void
  readonly onAdmitted: (trip: Trip) => void
}

/** The longest time after which an impatient client goes away, as a browser does. */
const mostPatienceMs = 30_000

/** TCP sends again, after longer and longer pauses, what a sleeping guest has not answered. */
const firstRepeatMs = 200
const lastRepeatMs = 10_000

/** All clients of a run. */
export class SimClients {
  readonly trips: Trip[] = []
  readonly #options: ClientOptions
  readonly #broken = new Map<Trip, (why: string) => void>()
  #ids = 0

  constructor(options: ClientOptions) {
    this.#options = options
  }

  get underWay(): readonly Trip[] {
    return this.trips.filter(({ outcome }) => outcome === undefined)
  }

  /** Sends one HTTP request, which takes `durationMs` in the application and has no pauses. */
  async request(gateway: SimGateway, durationMs: number, patient: boolean): Promise<Trip> {
    const trip = this.#begin(gateway, 'request')
    const admission = await this.#admit(trip, patient)
    if (admission === undefined) return trip
    trip.inFlight = true
    const end = await Promise.race([this.#exchange(trip, admission, durationMs), this.#breaks(trip)])
    this.#finish(trip, end)
    return trip
  }

  /** Opens a connection on which both sides send something now and then, with quiet times in between. */
  async connection(gateway: SimGateway, words: number, longestQuietMs: number): Promise<Trip> {
    const trip = this.#begin(gateway, 'connection')
    const admission = await this.#admit(trip, true)
    if (admission === undefined) return trip
    const end = await Promise.race([
      this.#talk(trip, admission, { words, longestQuietMs }),
      this.#breaks(trip),
    ])
    this.#finish(trip, end)
    return trip
  }

  /** Breaks the requests and connections of a VM that has ended. */
  vmEnded(vm: SimVm): void {
    for (const trip of this.underWay) {
      const { admission } = trip
      if (admission === undefined) continue
      const isIts = trip.kind === 'request' ? admission.boot === vm.boot : admission.memoryBoot === vm.memory
      if (isIts) this.#break(trip, 'its VM ended')
    }
  }

  gatewayDied(gateway: SimGateway): void {
    for (const trip of this.underWay) {
      if (trip.gateway === gateway) this.#break(trip, 'its gateway was restarted')
    }
  }

  #begin(gateway: SimGateway, kind: Trip['kind']): Trip {
    this.#ids += 1
    const { world } = this.#options
    const trip: Trip = {
      id: this.#ids,
      kind,
      gateway,
      startedMs: world.nowMs,
      admission: undefined,
      admittedMs: 0,
      inFlight: false,
      givenUp: false,
      answeredBy: new Set(),
      outcome: undefined,
    }
    this.trips.push(trip)
    world.note(`${kind} ${trip.id} comes to ${gateway.id}`)
    return trip
  }

  async #admit(trip: Trip, patient: boolean): Promise<InstanceAdmission | undefined> {
    const { world } = this.#options
    const leaving = new AbortController()
    const patience = patient
      ? undefined
      : world.after(world.dice.stretched(1, mostPatienceMs), () => {
          leaving.abort()
        })
    const answer = trip.gateway.admit(trip.kind, leaving.signal)
    const place: Admission | Refusal | string =
      answer instanceof Promise ? await Promise.race([answer, this.#breaks(trip)]) : answer
    patience?.cancel()
    if (typeof place === 'string') {
      this.#finish(trip, place)
      return undefined
    }
    if (!place.admitted) {
      const { reason } = place
      this.#settle(trip, reason === 'aborted' ? { kind: 'aborted' } : { kind: 'refused', reason })
      return undefined
    }
    if (trip.outcome !== undefined) {
      place.done()
      return undefined
    }
    // The balance of a service gives out only admissions of this kind.
    const admission = place as InstanceAdmission
    trip.admission = admission
    trip.admittedMs = world.nowMs
    world.note(`${trip.kind} ${trip.id} may go to boot ${place.boot}`)
    this.#options.onAdmitted(trip)
    place.onEnd((why) => {
      if (why === 'gone') this.#break(trip, 'told that its boot is gone')
      else if (why === 'lost') this.#break(trip, 'told that its host is lost')
      else if (trip.kind === 'connection') {
        world.after(world.dice.stretched(1, 2_000), () => {
          this.#break(trip, 'closed as asked')
        })
      }
    })
    return admission
  }

  async #exchange(trip: Trip, admission: InstanceAdmission, durationMs: number): Promise<string | number> {
    const { world, machine } = this.#options
    await world.sleep(world.dice.stretched(0.05, 2))
    const hasSlept = await this.#sleptThrough(admission)
    const vm = machine.running
    const isIts = hasSlept ? vm?.memory === admission.memoryBoot : vm?.boot === admission.boot
    if (vm?.started === undefined || !isIts) {
      return `found ${vm === undefined ? 'no VM' : `boot ${vm.boot}`} instead of boot ${admission.boot}`
    }
    trip.answeredBy.add(admission.boot)
    await world.sleep(durationMs)
    await this.#sleptThrough(admission)
    return admission.boot
  }

  /**
   * What is in flight when a user sends the instance to standby waits for the wake, as TCP does. Returns
   * whether it had to wait.
   */
  async #sleptThrough({ memoryBoot }: InstanceAdmission): Promise<boolean> {
    const { world, machine } = this.#options
    const sleeps = (): boolean =>
      machine.snapshot?.memory === memoryBoot || machine.comingUp?.memory === memoryBoot
    if (!sleeps()) return false
    for (let pauseMs = firstRepeatMs; sleeps(); pauseMs = Math.min(lastRepeatMs, 2 * pauseMs))
      await world.sleep(pauseMs)
    return true
  }

  async #talk(
    trip: Trip,
    admission: InstanceAdmission,
    how: { readonly words: number; readonly longestQuietMs: number },
  ): Promise<string | number> {
    const { world, machine } = this.#options
    for (let word = 0; word < how.words; word++) {
      if (word > 0) await world.sleep(world.dice.stretched(1, how.longestQuietMs))
      if (trip.outcome !== undefined) return 'over'
      if (world.dice.chance(0.3)) {
        // The instance sends something, if it runs with the memory that the connection belongs to.
        if (machine.running?.started !== undefined && machine.running.memory === admission.memoryBoot) {
          admission.touch()
        }
        continue
      }
      const awake = admission.awaken()
      if (awake !== undefined && !(await awake)) {
        return trip.gateway.alive ? 'its connection does not stand any more' : 'its gateway was restarted'
      }
      if (trip.outcome !== undefined) return 'over'
      trip.inFlight = true
      await world.sleep(world.dice.stretched(0.05, 2))
      await this.#sleptThrough(admission)
      const vm = machine.running
      if (vm?.started === undefined || vm.memory !== admission.memoryBoot) {
        return `found ${vm === undefined ? 'no VM' : `memory ${vm.memory}`} instead of memory ${admission.memoryBoot}`
      }
      await world.sleep(world.dice.stretched(0.05, 2))
      admission.touch()
      trip.inFlight = false
    }
    return machine.running?.boot ?? 0
  }

  async #breaks(trip: Trip): Promise<string> {
    return await new Promise((resolve) => {
      this.#broken.set(trip, resolve)
    })
  }

  #break(trip: Trip, why: string): void {
    this.#broken.get(trip)?.(why)
  }

  #finish(trip: Trip, end: string | number): void {
    if (typeof end === 'number') this.#settle(trip, { kind: 'answered', boot: end })
    else this.#settle(trip, { kind: 'broken', why: end })
  }

  #settle(trip: Trip, outcome: Outcome): void {
    if (trip.outcome !== undefined) return
    trip.outcome = outcome
    trip.inFlight = false
    this.#broken.delete(trip)
    this.#options.world.note(`${trip.kind} ${trip.id}: ${JSON.stringify(outcome)}`)
    this.#options.onOutcome(trip)
    if (trip.gateway.alive) trip.admission?.done()
  }
}
