import { connect } from 'node:net'
import type { Socket } from 'node:net'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { tellingPort } from './telling-guest.ts'
import { monotonicMs } from './monotonic-clock.ts'

/**
 * A program that runs in the network namespace of a host and asks VMs of that host directly, at their private
 * addresses, several times a second. So it sees a VM that runs on while the network is cut. Each line of its
 * input is an address. It prints a line of JSON (`DirectAnswer`) for each answer, and ends with its input.
 *
 * It asks each address in two ways. One connection is kept for as long as the VM lets it be: what was asked
 * before a halt of the VM is answered after it, if nothing stops that. Others are new for each question.
 */
export interface DirectAnswer {
  readonly text: string
  readonly sentMs: number
  readonly receivedMs: number
}

const keptPauseMs = 200
const newPauseMs = 500
/** A new connection is tried for so long. A VM that begins at this address later is found by the next one. */
const connectLimitMs = 2_000
const answerLimitMs = 60_000
/** How many questions of one address may wait for an answer. They wait while a VM is halted. */
const maxWaiting = 200

/** A question to whoever has the address. `onAnswer` hears of each line. */
class Connection {
  readonly #sentMs: number[] = []
  readonly #socket: Socket
  isOpen = true

  constructor(address: string) {
    const socket = connect({ host: address, port: tellingPort, timeout: connectLimitMs })
    this.#socket = socket
    socket.setNoDelay()
    socket.once('connect', () => socket.setTimeout(answerLimitMs))
    socket.on('timeout', () => socket.destroy())
    // What ended says nothing of a VM: the next connection asks again.
    socket.on('error', () => undefined)
    socket.once('close', () => (this.isOpen = false))
    createInterface({ input: socket, crlfDelay: Infinity })
      .on('line', (text) => this.#tell(text))
      .on('error', () => undefined)
  }

  get waiting(): number {
    return this.#sentMs.length
  }

  ask(): void {
    if (!this.isOpen || this.#sentMs.length >= maxWaiting) return
    this.#sentMs.push(monotonicMs())
    this.#socket.write('tell\n')
  }

  closeWhenAnswered(): void {
    this.#socket.once('data', () => this.#socket.destroySoon())
  }

  #tell(text: string): void {
    const receivedMs = monotonicMs()
    const sentMs = this.#sentMs.shift() ?? receivedMs
    process.stdout.write(`${JSON.stringify({ text, sentMs, receivedMs } satisfies DirectAnswer)}\n`)
  }
}

function probe(address: string): void {
  let kept = new Connection(address)
  let single: readonly Connection[] = []
  setInterval(() => {
    if (!kept.isOpen) kept = new Connection(address)
    kept.ask()
  }, keptPauseMs)
  setInterval(() => {
    single = single.filter(({ isOpen }) => isOpen)
    if (single.length >= maxWaiting) return
    const one = new Connection(address)
    one.ask()
    one.closeWhenAnswered()
    single = [...single, one]
  }, newPauseMs)
}

if (import.meta.main) {
  const addresses = new Set<string>()
  createInterface({ input: process.stdin })
    .on('line', (address) => {
      if (addresses.has(address)) return
      addresses.add(address)
      probe(address)
    })
    .on('close', () => process.exit(0))
}
