import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { doublingDelayMs } from '../../domain/doubling-delay.ts'
import type { Commands } from './commands.ts'

/**
 * How long this process waits for an answer of the program. Normally the program takes the device some
 * milliseconds after the VM has closed it.
 */
const answerTimeoutMs = 1_000
/**
 * The wait before the program starts again. It doubles each time the program ends before it answers
 * anything.
 */
const restartDelay = { firstMs: 100, longestMs: 5_000 }

export interface Sleeper {
  readonly tap: string
  readonly ip: string
  readonly mac: string
}

/**
 * Runs the program `guest/peer-watch`, which holds the devices of instances in standby. The program starts
 * with the first such instance. When it ends, it is started again and told again which devices to hold. It
 * ends with this process, and then the devices are free.
 */
export class PeerWatch {
  readonly #commands: Commands
  readonly #command: readonly string[]
  readonly #onPacket: (tap: string) => void
  readonly #warn: (message: string) => void
  readonly #sleepers = new Map<string, Sleeper>()
  #gateways: readonly string[] = []
  /** The callbacks that wait for an answer, by the answer's text, such as `left rt1234560002`. */
  readonly #awaited = new Map<string, () => void>()
  #child: ChildProcess | undefined
  #restart: NodeJS.Timeout | undefined
  #restarts = 0
  #stopped = false

  constructor(options: {
    readonly commands: Commands
    readonly command: readonly string[]
    readonly onPacket: (tap: string) => void
    readonly warn: (message: string) => void
  }) {
    this.#commands = options.commands
    this.#command = options.command
    this.#onPacket = options.onPacket
    this.#warn = options.warn
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Resolves when the program holds the device, has refused it, or has not answered in time. */
  async watch(sleeper: Sleeper): Promise<void> {
    this.#stopped = false
    this.#sleepers.set(sleeper.tap, sleeper)
    if (this.#child === undefined && this.#restart === undefined) this.#start()
    else this.#send(watchOrder(sleeper))
    await this.#answer(`watching ${sleeper.tap}`)
  }

  /** The addresses of other machines. Their packets are no packets of peers. */
  tellGateways(gateways: readonly string[]): void {
    this.#gateways = gateways
    this.#send(gatewaysOrders(gateways))
  }

  /** Resolves when the device is free. */
  async leave(tap: string): Promise<void> {
    if (!this.#sleepers.delete(tap) || this.#child === undefined) return
    this.#send(`leave ${tap}\n`)
    // A program that does not answer is killed, because it would keep the VM from its device.
    if (!(await this.#answer(`left ${tap}`))) this.#child?.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#sleepers.clear()
    clearTimeout(this.#restart)
    this.#restart = undefined
    const child = this.#child
    if (child === undefined) return
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.stdin?.end()
    await ended
  }

  #start(): void {
    const child = this.#commands.start(this.#command)
    this.#child = child
    let complaint = ''
    child.stdin?.on('error', () => undefined)
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = text.trim()))
    child.on('error', (error) => (complaint = error.message))
    child.on('close', () => this.#ended(complaint))
    if (child.stdout !== null) createInterface(child.stdout).on('line', (line) => this.#hear(line))
    this.#send(gatewaysOrders(this.#gateways))
    for (const sleeper of this.#sleepers.values()) this.#send(watchOrder(sleeper))
  }

  #ended(complaint: string): void {
    this.#child = undefined
    for (const resolve of this.#awaited.values()) resolve()
    this.#awaited.clear()
    if (this.#stopped || this.#sleepers.size === 0) return
    this.#warn(`the watch over instances in standby ended and starts again: ${complaint}`)
    const delayMs = doublingDelayMs(restartDelay, this.#restarts)
    this.#restarts += 1
    this.#restart = setTimeout(() => {
      this.#restart = undefined
      this.#start()
    }, delayMs)
  }

  #hear(line: string): void {
    const [what, tap = ''] = line.split(' ')
    if (what === 'packet') this.#onPacket(tap)
    else if (what === 'refused') {
      this.#warn(`packets of peers to ${tap} go unnoticed: ${line}`)
      this.#heard(`watching ${tap}`)
    } else {
      this.#restarts = 0
      this.#heard(line)
    }
  }

  #heard(answer: string): void {
    this.#awaited.get(answer)?.()
    this.#awaited.delete(answer)
  }

  #send(order: string): void {
    this.#child?.stdin?.write(order)
  }

  /** Resolves to true when the program has answered or has ended, and to false when the time is over. */
  async #answer(answer: string): Promise<boolean> {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#awaited.delete(answer)
        resolve(false)
      }, answerTimeoutMs)
      this.#awaited.set(answer, () => {
        clearTimeout(timer)
        resolve(true)
      })
    })
  }
}

function gatewaysOrders(gateways: readonly string[]): string {
  return ['gateways', ...gateways.map((ip) => `gateway ${ip}`), ''].join('\n')
}

function watchOrder({ tap, ip, mac }: Sleeper): string {
  return `watch ${tap} ${ip} ${mac}\n`
}
