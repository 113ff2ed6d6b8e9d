import assert from 'node:assert/strict'
import type { Network, NicSpec } from '../../../src/host/network/network.ts'

export const nicOf = (host: number): NicSpec => ({
  instanceUuid: `00000000-0000-4000-8000-${String(host).padStart(12, '0')}`,
  userUuid: '00000000-0000-4000-8000-00000000000a',
  ip: `10.64.${String(host >> 8)}.${String(host & 255)}`,
  mac: `12:b0:0a:40:${(host >> 8).toString(16).padStart(2, '0')}:${(host & 255).toString(16).padStart(2, '0')}`,
})

/**
 * The tests that every network must pass. `again` makes the network of the next agent on the same host. `nic`
 * is the instance that most of them attach.
 */
export function networkConformance(
  make: () => { network: Network; again: () => Network },
  nic: NicSpec = nicOf(2),
): void {
  let network: Network
  let again: () => Network
  /** Those of the next agents. What one of them began goes on until it is closed. */
  const successors: Network[] = []

  beforeEach(async () => {
    const made = make()
    network = made.network
    again = () => {
      const successor = made.again()
      successors.push(successor)
      return successor
    }
    await network.open()
  })
  afterEach(async () => {
    for (const successor of successors.splice(0)) await successor.close()
    await network.close()
  })

  it('opening twice changes nothing', async () => {
    const first = await network.attach(nic)
    await network.open()
    assert.deepEqual(await network.attach(nic), first)
  })

  it('an attachment carries the MAC of its instance', async () => {
    assert.equal((await network.attach(nic)).mac, nic.mac)
  })

  it('attaching again finds the existing attachment, even by the next agent', async () => {
    const first = await network.attach(nic)
    assert.deepEqual(await network.attach(nic), first)
    const next = again()
    await next.open()
    assert.deepEqual(await next.attach(nic), first)
  })

  it('counters exist while attached and are gone afterwards', async () => {
    assert.equal(await network.counters(nic), undefined)
    await network.attach(nic)
    assert.equal((await network.counters(nic))?.rxBytes, 0)
    await network.detach(nic)
    assert.equal(await network.counters(nic), undefined)
  })

  it('detaching twice, or without an attachment, is no error', async () => {
    await network.detach(nicOf(9))
    await network.attach(nic)
    await network.detach(nic)
    await network.detach(nic)
  })

  it('two instances that are attached at once have separate attachments', async () => {
    const [one, two] = await Promise.all([network.attach(nicOf(3)), network.attach(nicOf(4))])
    assert.notEqual(one.mac, two.mac)
    await network.detach(nicOf(3))
    assert.notEqual(await network.counters(nicOf(4)), undefined)
  })

  it('a guard can be set, set again, closed and taken away, also by the next agent', async () => {
    await network.guard(60_000)
    await network.guard(30_000)
    const next = again()
    await next.open()
    await next.guard(60_000)
    await next.guard(0)
    await next.guard(undefined)
    await next.guard(undefined)
  })

  it('an attached instance is reached on port 8080', async () => {
    await network.attach(nic)
    const address = await network.reach(nic, 8080)
    assert.ok(address !== undefined && address.port > 0)
  })

  it('after standby the same attachment is found again, even by the next agent', async () => {
    const first = await network.attach(nic)
    await network.standBy(nic)
    assert.deepEqual(await network.attach(nic), first)
    await network.standBy(nic)
    const next = again()
    await next.open()
    await next.standBy(nic)
    assert.deepEqual(await next.attach(nic), first)
    await next.detach(nic)
  })

  it('an instance that never ran may be in standby, and be detached from there', async () => {
    await network.standBy(nic)
    await network.standBy(nic)
    await network.detach(nic)
    assert.equal(await network.counters(nic), undefined)
  })

  it('packets of peers are counted from 0 or not at all', async () => {
    assert.equal(await network.peerPackets(nic), undefined)
    await network.attach(nic)
    assert.equal((await network.peerPackets(nic)) ?? 0, 0)
    await network.detach(nic)
    assert.equal(await network.peerPackets(nic), undefined)
  })

  it('dropped packets are counted from 0 or not at all', async () => {
    const load = await network.load()
    for (const packets of Object.values(load?.dropped ?? {})) assert.equal(packets, 0)
    assert.ok(load === undefined || load.flows < load.maxFlows)
  })

  it('closing twice is no error', async () => {
    await network.attach(nic)
    await network.close()
    await network.close()
  })
}
