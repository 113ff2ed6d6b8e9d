import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { InstanceState } from '../../src/domain/instance/state.ts'
import { Phase, phaseOf } from '../../src/domain/instance/lifecycle-state.ts'
import type { LifecycleRules } from '../../src/domain/instance/lifecycle-rules.ts'
import type { ScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import { SimClients } from './client.ts'
import { SimConfiguration, commandByHand, routedState, suspendByHand } from './commands.ts'
import { SimDisk } from './disk.ts'
import { SimGateway } from './gateway.ts'
import type { LineTemper } from './gateway.ts'
import { SimHost } from './host.ts'
import { SimMachine } from './machine.ts'
import { takeTimers } from './virtual-timers.ts'
import { Watch } from './watch.ts'
import { SimWorkflow } from './workflow.ts'
import { StormTheme, weatherOf } from './weather.ts'
import type { Weather } from './weather.ts'
import { World } from './world.ts'

const instanceUuid = '00000000-0000-4000-8000-000000000001'
/**
 * The time within which everything is well again after the last fault. Idle periods are told again every 15
 * s, lost calls are repeated after 10 s, and failed snapshots after 60 s.
 */
const healingMs = 110_000
/** How long an instance may take to fall asleep: 10 s without a first socket, and its shutdown. */
const fallingAsleepMs = 40_000
const answeringMs = 20_000
const peerRepeatMs = 1_000
const usuallyLate = 0.1
/** Within this time after the last traffic of a storm, each gateway gives its lease back. */
const lastWordMs = 2_000
/**
 * The time after a storm within which every gateway hears which memories are gone. Lines are given up after
 * 8 s, and agents and gateways are restarted by then.
 */
const reconnectingMs = 25_000

export interface RunReport {
  readonly seed: number
  readonly violation: Error | undefined
  readonly lines: readonly string[]
  readonly digest: string
  readonly events: number
  readonly trips: number
  readonly boots: number
}

/** Plays one life of one instance, which the seed decides. */
export class SimRun {
  readonly world: World
  readonly settings: ScaleToZero
  readonly weather: Weather
  readonly #seed: number
  readonly #directory: string
  readonly #watch = new Watch()
  readonly #machine: SimMachine
  readonly #host: SimHost
  readonly #workflow: SimWorkflow
  readonly #clients: SimClients
  readonly #gateways: SimGateway[] = []
  readonly #disk: SimDisk
  readonly #lineTemper: LineTemper = { lastWordLost: 0 }
  /** The probability that an instance's new state reaches the gateways late. */
  #feedLate = usuallyLate
  #gatewayLives = 0
  readonly #configuration: SimConfiguration
  readonly #hardLimit: number
  #apiAwayUntilMs = 0
  #stormUntilMs = 0
  #fed: InstanceState | undefined

  constructor(seed: number) {
    this.#seed = seed
    const world = new World(seed)
    this.world = world
    const { dice } = world
    this.settings = {
      policy: dice.pick(['on', 'on', 'on', 'idle', 'idle', 'off']),
      cooldownMs: dice.pick([0, 1, 20, 100, 1_000, 1_000, 5_000]),
      stateful: dice.chance(0.5),
    }
    const rules: LifecycleRules = {
      autostart: dice.chance(0.75),
      deleteOnStop: dice.chance(0.1),
      restartPolicy: dice.pick(['never', 'always', 'on-failure']),
      scaleToZero: this.settings,
    }
    this.#configuration = new SimConfiguration(rules)
    this.weather = weatherOf(world)
    this.#hardLimit = dice.pick([1, 2, 5, 100])
    world.note(JSON.stringify({ seed, settings: this.settings, rules, weather: this.weather }))
    this.#directory = mkdtempSync(path.join(tmpdir(), 'roost-sim-'))
    this.#disk = new SimDisk(world, this.#directory)
    this.#machine = new SimMachine({
      world,
      instanceUuid,
      directory: this.#directory,
      watch: this.#watch,
      temper: { startFails: 0, suspendFails: 0, snapshotUnfit: 0.05, exitsAfterMs: 0, stubborn: 0.2 },
    })
    this.#clients = new SimClients({
      world,
      machine: this.#machine,
      onOutcome: (trip) => {
        this.#watch.outcome(trip)
      },
      onAdmitted: (trip) => {
        this.#watch.admitted(trip)
      },
    })
    this.#host = new SimHost({
      world,
      machine: this.#machine,
      disk: this.#disk,
      instanceUuid,
      settings: this.settings,
      configuration: this.#configuration,
      tell: async (event) => await this.#workflow.signal(event),
      apiIsUp: () => world.nowMs >= this.#apiAwayUntilMs,
      instanceExists: () => phaseOf(this.#workflow.life) !== Phase.Deleted,
      onComplaint: (message) => {
        this.#watch.complained(message)
      },
      onDeath: () => {
        for (const gateway of this.#gateways) gateway.agentDies()
      },
    })
    this.#workflow = new SimWorkflow({
      world,
      host: this.#host,
      instanceUuid,
      configuration: this.#configuration,
      onLife: (life, before) => {
        this.#watch.decided(life, before)
        this.#publish()
      },
    })
    this.#fed = this.#workflow.life.state
    this.#watch.parts = {
      world,
      host: this.#host,
      machine: this.#machine,
      clients: this.#clients,
      gateways: this.#gateways,
      workflow: this.#workflow,
      settings: this.settings,
      configuration: this.#configuration,
      instanceUuid,
    }
    world.afterEach = () => {
      this.#watch.look()
    }
  }

  async play(): Promise<RunReport> {
    const giveBack = takeTimers(this.world)
    try {
      this.#host.start()
      for (let count = this.world.dice.whole(1, 2); count > 0; count--) this.#addGateway()
      this.#watch.look()
      await this.#rounds()
    } finally {
      giveBack()
      this.#host.crash()
      rmSync(this.#directory, { recursive: true, force: true })
    }
    const { world } = this
    return {
      seed: this.#seed,
      violation: world.violation,
      lines: world.lines,
      digest: world.digest(),
      events: world.events,
      trips: this.#clients.trips.length,
      boots: this.#machine.cameUp.size,
    }
  }

  async #rounds(): Promise<void> {
    const { world } = this
    for (let round = world.dice.whole(1, 2); round > 0 && world.violation === undefined; round--) {
      world.note('a storm begins')
      this.#storm(world.dice.stretched(3_000, 60_000))
      await world.runUntil(this.#stormUntilMs)
      world.note('the storm is over')
      this.#calm()
      await world.runUntil(world.nowMs + reconnectingMs)
      if (world.violation === undefined) this.#watch.checkConnected()
      await this.#rest(healingMs)
      await this.#probe()
    }
  }

  /** Waits until all clients have gone, and then for `ms` more. */
  async #rest(ms: number): Promise<void> {
    const { world } = this
    for (let step = 0; step < 60 && this.#clients.underWay.length > 0; step++) {
      await world.runUntil(world.nowMs + 5_000)
    }
    await world.runUntil(world.nowMs + ms + this.settings.cooldownMs)
    if (world.violation === undefined) this.#watch.checkQuiet()
  }

  /**
   * Repeats a peer's packet while nothing is wrong. A sleeping instance has to wake from it, whatever
   * happened before.
   */
  async #probeByPeer(): Promise<void> {
    const { world } = this
    if (world.violation !== undefined || phaseOf(this.#workflow.life) !== Phase.Standby) return
    const untilMs = world.nowMs + answeringMs
    while (!this.#host.peerSends()) {
      await world.runUntil(world.nowMs + peerRepeatMs)
      if (world.violation !== undefined) return
      if (world.nowMs > untilMs)
        return world.fail('a peer has sent to a sleeper at rest, and it does not wake')
    }
    await this.#rest(fallingAsleepMs)
  }

  /** Sends one request through each gateway while nothing is wrong. */
  async #probe(): Promise<void> {
    const { world } = this
    await this.#probeByPeer()
    const may = [Phase.Running, Phase.Standby] as readonly Phase[]
    for (const gateway of this.#gateways) {
      if (world.violation !== undefined) return
      const expectsAnswer = may.includes(phaseOf(this.#workflow.life))
      const id = this.#clients.trips.length
      void this.#clients.request(gateway, 10, true)
      await world.runUntil(world.nowMs + answeringMs)
      const outcome = this.#clients.trips[id]?.outcome
      const expected = expectsAnswer ? 'answered' : 'refused'
      if (outcome?.kind !== expected) {
        world.fail(`a request at rest was not ${expected} but ${JSON.stringify(outcome)}`)
      }
      await this.#rest(fallingAsleepMs)
    }
  }

  #storm(ms: number): void {
    const { world, weather } = this
    const { dice } = world
    this.#stormUntilMs = world.nowMs + ms
    const { temper } = this.#machine
    const theme = dice.pick(['none', ...Object.values(StormTheme)])
    const isOfStarts = theme === StormTheme.Starts
    const isOfNews = theme === StormTheme.News
    this.#feedLate = isOfNews ? 0.8 : usuallyLate
    if (isOfStarts) temper.startFails = 0.9
    else if (dice.chance(0.3)) temper.startFails = dice.pick([0.05, 0.3, 0.7])
    if (dice.chance(0.3)) temper.suspendFails = dice.pick([0.1, 0.5])
    if (isOfNews) temper.exitsAfterMs = dice.stretched(500, 10_000)
    else if (dice.chance(0.3)) temper.exitsAfterMs = dice.stretched(10, 60_000)
    const control = this.#workflow.temper
    control.longestDelayMs = dice.pick([5, 20, 200, 5_000])
    if (dice.chance(0.3)) control.signalLost = 0.2
    if (dice.chance(0.3)) control.resultLost = 0.1
    if (isOfStarts || dice.chance(0.5)) control.repeated = isOfStarts ? 0.4 : 0.2
    if (isOfNews || dice.chance(0.2)) control.reordered = isOfNews ? 0.7 : 0.2
    this.#every(weather.requestMs, () => this.#burst())
    this.#every(weather.connectionMs, () => {
      const gateway = dice.pick(this.#gateways)
      void this.#clients.connection(gateway, dice.whole(1, 6), dice.stretched(10, 20_000))
    })
    const asked = { dice, note: (text: string) => world.note(text) }
    this.#every(weather.commandMs, () => this.#workflow.say(commandByHand(asked, this.#configuration)))
    this.#every(weather.suspendMs, () => this.#workflow.say(suspendByHand(asked)))
    this.#every(weather.disabledMs, () => {
      this.#machine.toggleDisabled(dice.chance(0.5))
    })
    this.#every(weather.peerMs, () => {
      this.#host.peerSends()
    })
    this.#every(weather.moveMs, () => this.#host.holdFor(dice.stretched(50, 6_000)))
    this.#every(weather.agentDeathMs, () => {
      this.#host.crash()
      // In one case of five, the agent is away for longer than anybody waits for it.
      world.after(dice.chance(0.8) ? dice.stretched(1, 15_000) : dice.between(15_000, 60_000), () => {
        this.#host.start()
      })
    })
    this.#every(weather.rebootMs, () => {
      this.#host.reboot()
      world.after(dice.stretched(1_000, 15_000), () => {
        this.#host.start()
      })
    })
    this.#every(weather.gatewayDeathMs, () => {
      this.#replaceGateway(dice.whole(0, this.#gateways.length - 1))
    })
    if (theme === StormTheme.Lines) {
      this.#lineTemper.lastWordLost = 0.3
      world.after(ms + lastWordMs, () => (this.#lineTemper.lastWordLost = 0))
    }
    const lineMs = theme === StormTheme.Lines ? dice.stretched(200, 3_000) : weather.lineMs
    this.#every(lineMs, () => {
      const { line } = dice.pick(this.#gateways)
      if (dice.chance(0.5)) line?.cut()
      else line?.stall(dice.chance(0.5) ? dice.stretched(10, 3_000) : dice.between(3_000, 12_000))
    })
    this.#every(weather.pauseMs, () => {
      this.#workflow.pausedUntilMs = world.nowMs + dice.stretched(10, 20_000)
    })
    this.#every(weather.terminationMs, () => {
      this.#workflow.terminate()
    })
    this.#every(weather.apiAwayMs, () => {
      this.#apiAwayUntilMs = world.nowMs + dice.stretched(100, 20_000)
    })
  }

  #calm(): void {
    const { temper } = this.#machine
    Object.assign(temper, { startFails: 0, suspendFails: 0, exitsAfterMs: 0 })
    Object.assign(this.#workflow.temper, {
      signalLost: 0,
      resultLost: 0,
      repeated: 0,
      reordered: 0,
      longestDelayMs: 20,
    })
    this.#feedLate = usuallyLate
    this.#workflow.pausedUntilMs = 0
    this.#apiAwayUntilMs = 0
    this.#host.start()
    if (this.world.dice.chance(0.8)) this.#machine.toggleDisabled(false)
  }

  #every(meanMs: number, happen: () => void): void {
    const { world } = this
    if (meanMs === 0) return
    const next = (): void => {
      world.after(world.dice.stretched(meanMs / 20, meanMs * 3), () => {
        if (world.nowMs >= this.#stormUntilMs) return
        happen()
        next()
      })
    }
    next()
  }

  #burst(): void {
    const { dice } = this.world
    for (let count = dice.pick([1, 1, 1, 2, 5]); count > 0; count--) {
      const gateway = dice.pick(this.#gateways)
      void this.#clients.request(gateway, dice.stretched(0.5, 15_000), dice.chance(0.85))
    }
  }

  #addGateway(): SimGateway {
    this.#gatewayLives += 1
    const { world } = this
    const gateway = new SimGateway({
      world,
      host: this.#host,
      name: `gateway-${this.#gatewayLives}`,
      instanceUuid,
      softLimit: world.dice.pick([1, 10]),
      hardLimit: this.#hardLimit,
      temper: this.#lineTemper,
      state: this.#fed,
    })
    this.#gateways.push(gateway)
    return gateway
  }

  #replaceGateway(index: number): void {
    const [old] = this.#gateways.splice(index, 1)
    if (old === undefined) return
    old.die()
    this.#clients.gatewayDied(old)
    this.#addGateway()
  }

  /**
   * Tells the gateways the new state as the route feed does: late and in order. A state that has already
   * passed is left out.
   */
  #publish(): void {
    const { world } = this
    const state = routedState(this.#workflow.life)
    world.after(
      world.dice.chance(this.#feedLate) ? world.dice.between(500, 3_000) : world.dice.stretched(5, 300),
      () => {
        const isStale = routedState(this.#workflow.life) !== state
        if (isStale || this.#fed === state) return
        this.#fed = state
        for (const gateway of this.#gateways) gateway.feed(state)
      },
    )
  }
}
