import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import type { HostMessage } from '../../../src/domain/standby/lease-protocol.ts'
import type { GatewayLine } from '../../../src/host/leases/host-leases.ts'
import { pass, seen } from './gateway.ts'
import { Machine, uuid } from '../agent/machine.ts'
import type { AgentOptions, LiveAgent } from '../agent/machine.ts'
import { cold, stateful } from './standby-scene.ts'

const many = 1_000
const storming = '00000000-0000-4000-8000-00000000005a'
const other = '00000000-0000-4000-8000-00000000005b'
/**
 * How many starts of one user `StartShares` lets go on at once: of those that restore a memory, and of boots.
 */
const restoresAtOnce = 3 * availableParallelism()
const bootsAtOnce = availableParallelism() + 1
const gateway = 'gateway-1'

function nameOf(index: number): string {
  return `00000000-0000-4000-9000-${String(index).padStart(12, '0')}`
}

/** A gateway that asks for many instances and notes the order in which it gets them. */
class AskingGateway implements GatewayLine {
  readonly gatewayId = gateway
  readonly opened: string[] = []
  readonly #live: LiveAgent

  constructor(live: LiveAgent) {
    this.#live = live
    live.agent.leases.connect(this, [])
  }

  ask(instance: string): void {
    this.#live.agent.leases.hear(this, instance, { kind: 'open', gateway, epoch: 1, ports: [8080] })
  }

  send(message: HostMessage | Promise<HostMessage>): void {
    void Promise.resolve(message).then((said) => {
      if (said.kind === 'opened') this.opened.push(said.instance)
    })
  }

  end(): void {
    throw new Error('the gateway was cut off')
  }
}

describe('a host on which one user’s instances are woken all at once', function () {
  this.timeout(60_000)
  let machine: Machine
  let live: LiveAgent

  beforeEach(async () => {
    machine = await Machine.make()
  })
  afterEach(async () => {
    live.kill()
    await live.written()
    await machine.remove()
  })

  function place(count: number, scaleToZero: typeof cold | typeof stateful): readonly string[] {
    const spec = machine.specs.get(uuid)
    assert(spec !== undefined)
    const names = Array.from({ length: count }, (_, index) => nameOf(index))
    for (const [index, name] of names.entries()) {
      const privateIp = `10.64.${Math.floor(index / 250) + 1}.${(index % 250) + 1}`
      const userUuid = index === count - 1 ? other : storming
      machine.specs.set(name, { ...spec, uuid: name, userUuid, privateIp, scaleToZero })
    }
    return names
  }

  /** Gives each instance only a permit, as if it was in standby from its creation on. */
  async function asleep(count: number, options: AgentOptions): Promise<readonly string[]> {
    const names = place(count, cold)
    live = await machine.readyAgent(options)
    const order = { boot: 0, epoch: 0, permit: 1, stateful: false, graceMs: 1_000 }
    const slept = names.map(async (instanceUuid) => await live.agent.standBy({ instanceUuid, ...order }))
    assert((await Promise.all(slept)).every((each) => each.slept))
    return names
  }

  it('wakes another user’s instance before most of them', async () => {
    const names = await asleep(many + 1, { vmm: { bootMs: 20 } })
    const asking = new AskingGateway(live)
    for (const name of names) asking.ask(name)
    const last = names[many] ?? ''
    await seen('the other user’s is awake', () => asking.opened.includes(last))
    const before = asking.opened.indexOf(last)
    assert(before <= bootsAtOnce, `${before} of ${many} came first`)
  })

  it('wakes another user’s instance before most of them if they continue from memories', async () => {
    const names = place(60, stateful)
    live = await machine.readyAgent({ vmm: { restoreMs: 20 } })
    for (const instanceUuid of names) await live.agent.start({ instanceUuid, boot: 1 })
    pass(machine, live, 10_000)
    for (const instanceUuid of names) {
      const epoch = live.agent.entries.get(instanceUuid)?.hostLease.idle?.epoch ?? 0
      const order = { boot: 1, epoch, permit: 2, stateful: true, graceMs: 1_000 }
      assert.equal((await live.agent.standBy({ instanceUuid, ...order })).slept, true)
    }
    const asking = new AskingGateway(live)
    for (const name of names) asking.ask(name)
    const last = names[59] ?? ''
    await seen('the other user’s is awake', () => asking.opened.includes(last))
    const before = asking.opened.indexOf(last)
    assert(before <= restoresAtOnce, `${before} of 59 came first`)
  })

  it('starts another user’s instance by hand before most of them', async () => {
    const names = place(60, cold)
    live = await machine.readyAgent({ vmm: { bootMs: 20 } })
    const started: string[] = []
    const starts = names.map(async (instanceUuid) => {
      await live.agent.start({ instanceUuid, boot: 1 })
      started.push(instanceUuid)
    })
    await starts[59]
    const before = started.indexOf(names[59] ?? '')
    assert(before <= bootsAtOnce, `${before} of 59 came first`)
    await Promise.all(starts)
  })

  it('leaves instances asleep that wait for their turn, and can stop them at once', async () => {
    const names = await asleep(40, { vmm: { bootMs: 1_000 } })
    const asking = new AskingGateway(live)
    for (const name of names) asking.ask(name)
    const waiting = names[30] ?? ''
    assert.equal(live.agent.entries.get(waiting)?.hostLease.phase, 'waking')
    await live.agent.stop({ instanceUuid: waiting, boot: 1, forced: false, graceMs: 1_000 })
    assert.equal(asking.opened.length, 0)
    assert.equal(live.agent.entries.get(waiting)?.record?.standby, undefined)
    // One more is the other user’s.
    assert.equal(machine.host.starts, bootsAtOnce + 1)
  })
})
