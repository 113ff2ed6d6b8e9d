import { leaseKeptMs } from '../../../src/domain/standby/lease-protocol.ts'
import type { HostMessage } from '../../../src/domain/standby/lease-protocol.ts'
import type { GatewayLine } from '../../../src/host/leases/host-leases.ts'
import { uuid } from '../agent/machine.ts'
import type { LiveAgent, Machine } from '../agent/machine.ts'

type Of<K extends HostMessage['kind']> = Extract<HostMessage, { kind: K }>

/** A gateway of a test, connected without a socket. */
export class TestGateway implements GatewayLine {
  readonly gatewayId: string
  readonly heard: HostMessage[] = []
  readonly #live: LiveAgent
  #pending: Promise<void> = Promise.resolve()
  #epoch = 0

  constructor(live: LiveAgent, gatewayId = 'gateway-1') {
    this.gatewayId = gatewayId
    this.#live = live
  }

  connect(held: { readonly boot: number; readonly epoch: number }[] = []): this {
    this.#live.agent.leases.connect(
      this,
      held.map((each) => ({ instance: uuid, ...each })),
    )
    this.#epoch = Math.max(0, ...held.map(({ epoch }) => epoch))
    return this
  }

  send(message: HostMessage | Promise<HostMessage>): void {
    this.#pending = this.#pending.then(async () => {
      this.heard.push(await message)
    })
  }

  end(): void {
    this.heard.push({ kind: 'beat' })
  }

  lose(machine: Machine): void {
    this.#live.agent.leases.disconnect(this, machine.nowMs)
  }

  /** Asks for a lease. Returns the epoch of the request. */
  open(ports: readonly number[] = [8080]): number {
    this.#epoch += 1
    const { gatewayId: gateway } = this
    this.#live.agent.leases.hear(this, uuid, { kind: 'open', gateway, epoch: this.#epoch, ports })
    return this.#epoch
  }

  giveBack(quietMs = 0, epoch = this.#epoch): void {
    const { gatewayId: gateway } = this
    this.#live.agent.leases.hear(this, uuid, { kind: 'returned', gateway, epoch, quietMs })
  }

  drained(boot: number): void {
    this.#live.agent.leases.hear(this, uuid, { kind: 'drained', gateway: this.gatewayId, boot })
  }

  all<K extends HostMessage['kind']>(kind: K): readonly Of<K>[] {
    return this.heard.filter((message): message is Of<K> => message.kind === kind)
  }

  async next<K extends HostMessage['kind']>(kind: K, nth = 1): Promise<Of<K>> {
    return await seen(`the gateway hears ${kind}`, () => this.all(kind)[nth - 1])
  }

  async opened(): Promise<Of<'opened'>> {
    const epoch = this.open()
    return await seen('the gateway is let in', () => this.all('opened').find((each) => each.epoch === epoch))
  }
}

/** Lets time pass, and lets the agent's leases do what is due by then. */
export function pass(machine: Machine, live: LiveAgent, ms: number): void {
  machine.nowMs += ms
  live.agent.leases.tick()
}

/**
 * Lets the time pass in which gateways can tell a new agent what they hold. After that, the agent knows of
 * all leases.
 */
export function settleIn(machine: Machine, live: LiveAgent): void {
  pass(machine, live, leaseKeptMs)
}

const seenLimitMs = 10_000

/** Waits for something that happens in this process within a few turns of its loop. */
export async function seen<T>(what: string, look: () => T | false | undefined): Promise<T> {
  const deadlineMs = performance.now() + seenLimitMs
  for (;;) {
    const found = look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadlineMs) throw new Error(`not within ${String(seenLimitMs / 1000)} s: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}
