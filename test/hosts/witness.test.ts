import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { layWire } from '../support/host-machines.ts'
import type { Machine, Wire } from '../support/host-machines.ts'
import { familyOf, signalAll, stopFamily } from '../support/processes.ts'
import { tellingGuest } from '../support/telling-guest.ts'
import { openWitness, untilAnotherBoot } from '../support/witness.ts'
import type { Witness } from '../support/witness.ts'

const limitMs = 20_000
const haltMs = 1_000
/** Both have the name of this machine, as two VMs of one instance have one name. */
const instance = hostname()
const nobody = {
  isClosed: false,
  get: async () => await Promise.reject(new Error('nobody is asked publicly')),
}

/** The witness of `loss.test.ts` has to see what must never be, so here it is made to be. No VM is needed. */
describe('the witness of lost hosts', () => {
  let wire: Wire
  let machines: Readonly<Record<'h2' | 'h3', Machine>>
  let witness: Witness
  let running: ChildProcess[] = []

  before(function () {
    if (process.getuid?.() !== 0) return this.skip()
    wire = layWire(['h2', 'h3'])
    const [h2, h3] = wire.machines as readonly [Machine, Machine]
    machines = { h2, h3 }
  })
  beforeEach(() => {
    const { h2, h3 } = machines
    witness = openWitness(nobody, { h2: h2.namespace, h3: h3.namespace })
  })
  afterEach(async () => {
    await witness.close()
    for (const child of running) signalAll(familyOf(child.pid ?? 0), 'SIGKILL')
    running = []
  })
  after(async () => await wire?.remove())

  /** Starts the application on a machine, and returns it with its boot once that has answered. */
  async function begin(host: 'h2' | 'h3') {
    const known = new Set(witness.record.boots(instance).map(({ boot }) => boot))
    const inside = [`--net=/run/netns/${machines[host].namespace}`, '--', '/bin/busybox']
    const env = { PATH: process.env['PATH'], ...tellingGuest.env }
    const child = spawn('nsenter', [...inside, ...tellingGuest.args], { env, stdio: 'ignore' })
    running.push(child)
    witness.askDirectly(host, machines[host].address)
    const { boot } = await untilAnotherBoot(witness, { instance, known, limitMs })
    return { boot, pid: child.pid ?? 0 }
  }

  it('proves nothing while one ends before the next one begins', async () => {
    const { pid } = await begin('h2')
    signalAll(familyOf(pid), 'SIGKILL')
    const { boot } = await begin('h3')
    await delay(haltMs)
    assert.deepEqual(witness.record.proofsOfTwo(instance), [])
    assert.equal(witness.record.boots(instance).at(-1)?.boot, boot)
  })

  it('proves that two run at once, although no path leads from one to the other', async () => {
    machines.h2.cutWire()
    const one = await begin('h2')
    const two = await begin('h3')
    await delay(haltMs)
    machines.h2.mendWire()
    const [proof = ''] = witness.record.proofsOfTwo(instance)
    assert.ok(proof.includes(one.boot) && proof.includes(two.boot), proof)
  })

  it('proves it of one that was halted before the next one began, once it goes on', async () => {
    const one = await begin('h2')
    const halted = stopFamily(one.pid)
    const haltedAtMs = witness.record.boots(instance)[0]?.lastMs ?? 0
    await begin('h3')
    await delay(haltMs)
    assert.deepEqual(witness.record.proofsOfTwo(instance), [])
    signalAll(halted, 'SIGCONT')
    await delay(haltMs)
    const [seen] = witness.record.boots(instance)
    assert.ok(seen !== undefined && seen.lastMs > haltedAtMs + haltMs)
    assert.match(
      witness.record.proofsOfTwo(instance).join('\n'),
      new RegExp(`boot ${one.boot} answered \\d+ ms after`),
    )
  })
})
