import assert from 'node:assert/strict'
import { join } from 'node:path'
import { TapNetwork } from '../../../src/host/network/tap-network.ts'
import { readInstalled, requireInstalled } from '../../../src/launch/installed.ts'
import { networkConformance, nicOf } from './conformance.ts'
import { TapScene } from './tap-scene.ts'

const peerWatchPath = join(requireInstalled(readInstalled(), 'guestDirectory'), 'peer-watch')
const scene = new TapScene('seat')
const { plan } = scene

describe('the TAP network and an instance with a seat', function () {
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    await scene.open()
  })
  after(() => {
    scene.close()
  })

  const make = (): TapNetwork => new TapNetwork({ ...scene.options, peerWatchPath })
  const inHost = async (...command: string[]): Promise<string> => await scene.inHost(...command)
  const seated = { ...nicOf(2), ip: '10.65.3.9', seat: '10.64.0.7' }
  describe('as every network', () => {
    networkConformance(() => ({ network: make(), again: make }), seated)
  })

  describe('which moved here with its address', () => {
    const elsewhere = { ...nicOf(8), ip: '10.65.3.9', seat: '10.64.0.8' }
    const next = { ...nicOf(7), instanceUuid: nicOf(77).instanceUuid }
    let network: TapNetwork
    beforeEach(async () => {
      network = make()
      await network.open()
    })
    afterEach(async () => await network.close())

    const route = async (): Promise<string> => await inHost('ip', '-4', 'route', 'show', seated.ip)
    const links = async (): Promise<string> => await inHost('ip', '-o', 'link')
    const seats = async (): Promise<boolean> =>
      (await inHost('nft', 'list', 'set', 'inet', plan.table, 'seated')).includes(seated.ip)

    it('names what it makes after the seat, and gives the guest a network with its gateway', async () => {
      const attachment = await network.attach(seated)
      assert.ok(attachment.kind === 'tap')
      assert.equal(attachment.interfaceName, `${plan.tapPrefix}0007`)
      assert.equal(attachment.ip, seated.ip)
      assert.deepEqual(
        [attachment.prefixLength, attachment.gateway, attachment.nameserver],
        [10, plan.hostAddress, plan.hostAddress],
      )
      assert.equal(network.ownerOf(seated.ip), seated.userUuid)
      assert.equal(network.ownerOf(seated.seat), undefined)
      assert.match(await route(), new RegExp(`dev ${plan.bridge} .*src ${plan.hostAddress}`))
      await network.open()
      assert.ok(await seats(), 'a new filter knows the address')
    })

    it('has its route also in standby, and nothing is left afterwards, even by the next agent', async () => {
      await network.standBy(seated)
      assert.notEqual(await route(), '')
      await network.detach(seated)
      assert.deepEqual([await route(), await seats()], ['', false])
      await network.attach(seated)
      const successor = make()
      await successor.open()
      await successor.detach(seated)
      assert.equal(await route(), '')
      assert.doesNotMatch(await links(), /0007:/)
    })

    it('can be detached late, when its seat is another one’s or it has another seat itself', async () => {
      await network.attach(seated)
      await network.attach(next)
      assert.deepEqual([await route(), await seats()], ['', false])
      await network.detach(seated)
      assert.notEqual(await network.counters(next), undefined)
      await network.attach(elsewhere)
      await network.detach({ ...elsewhere, seat: seated.seat })
      assert.notEqual(await network.counters(elsewhere), undefined)
      assert.deepEqual([(await route()) === '', await seats()], [false, true])
      assert.match(await inHost('ip', 'neigh', 'show', elsewhere.ip), /PERMANENT/)
      await network.attach({ ...elsewhere, seat: '10.64.0.9' })
      assert.doesNotMatch(await links(), /0008:/)
    })
  })
})
