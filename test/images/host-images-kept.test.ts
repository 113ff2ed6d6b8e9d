import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ImageUse } from '../../src/host/images/images.ts'
import type { RegistryClient } from '../../src/registry/registry-client.ts'
import { digestOf } from '../../src/registry/verified-stream.ts'
import { gzipLayer } from '../support/oci-image.ts'
import { until } from '../support/until.ts'
import { HeldPulls } from './held-pulls.ts'
import { hostFixture, leftovers, pulledBy, stored, tamper } from './host-fixture.ts'
import { annUuid, wanted } from './wanted-image.ts'

describe('images that a host keeps', () => {
  const host = hostFixture()

  describe('kept', () => {
    function counting(): { client: RegistryClient; pulls: () => number } {
      let pulls = 0
      const client: RegistryClient = {
        ...host.registry.client,
        image(...call) {
          pulls++
          return host.registry.client.image(...call)
        },
      }
      return { client, pulls: () => pulls }
    }

    it('an image is made once, however many callers ask at once, and not again afterwards', async () => {
      const { client, pulls } = counting()
      const images = await host.open({ client })
      const reference = await host.push([{ name: 'shared', content: 'x' }])
      const all = await Promise.all(Array.from({ length: 20 }, () => images.prepare(wanted(reference))))
      assert.equal(new Set(all.map((image) => (image.kind === 'container' ? image.rootfsPath : ''))).size, 1)
      await images.prepare(wanted(reference))
      await (await host.open({ client })).prepare(wanted(reference))
      assert.equal(pulls(), 1)
    })

    it('a caller that gives up does not disturb the others', async () => {
      const images = await host.open()
      const reference = await host.push([{ name: 'patience', content: 'x' }])
      const impatient = new AbortController()
      const first = images.prepare(wanted(reference), impatient.signal)
      const second = images.prepare(wanted(reference))
      impatient.abort(new Error('no more'))
      await assert.rejects(first, /no more/)
      assert.equal((await second).kind, 'container')
    })

    it('a pull that has begun is finished, and its image kept, although the last caller has given up', async () => {
      const pulls = new HeldPulls()
      const images = await host.open({ client: pulledBy(host.registry.client, pulls) })
      const reference = await host.push([{ name: 'given-up', content: 'x' }])
      await pulls.askInVain(images, reference)
      pulls.letGo()
      const [, digest] = reference.split('@')
      await until('it is kept', async () => (await stored(host.directory)).length, { limitMs: 10_000 })
      await images.prepare(wanted(reference))
      assert.deepEqual(await leftovers(host.directory), [digest])
      assert.equal(pulls.count, 1)
    })

    it('a pull that no caller waits for is ended at its limit, and leaves nothing', async () => {
      const pulls = new HeldPulls()
      const client = pulledBy(host.registry.client, pulls)
      const images = await host.open({ client, limits: { unattendedMs: 50 } })
      const reference = await host.push([{ name: 'forgotten', content: 'x' }])
      await pulls.askInVain(images, reference)
      const begun = async (): Promise<number> => (await leftovers(host.directory)).length
      assert.equal(await begun(), 1)
      await until('it is ended', async () => (await begun()) === 0, { limitMs: 5_000 })
      pulls.letGo()
      assert.equal((await images.prepare(wanted(reference))).kind, 'container')
      assert.equal(pulls.count, 2)
    })

    it('a pull that a caller waits for again has no such limit', async () => {
      const pulls = new HeldPulls()
      const client = pulledBy(host.registry.client, pulls)
      const images = await host.open({ client, limits: { unattendedMs: 1_000 } })
      const reference = await host.push([{ name: 'asked-in-time', content: 'x' }])
      await pulls.askInVain(images, reference)
      const again = images.prepare(wanted(reference))
      await delay(1_500)
      pulls.letGo()
      assert.equal((await again).kind, 'container')
      assert.equal(pulls.count, 1)
    })

    it('a pull does not begin if its last caller gave up while it waited for its turn', async () => {
      const pulls = new HeldPulls()
      const client = pulledBy(host.registry.client, pulls)
      const images = await host.open({ client, limits: { maxConcurrent: 1 } })
      const first = images.prepare(wanted(await host.push([{ name: 'first' }])))
      await pulls.begun()
      const impatient = new AbortController()
      const second = images.prepare(wanted(await host.push([{ name: 'second' }])), impatient.signal)
      await delay(50)
      impatient.abort(new Error('no more'))
      await assert.rejects(second, /no more/)
      pulls.letGo()
      await first
      assert.equal((await images.prepare(wanted(await host.push([{ name: 'third' }])))).kind, 'container')
      assert.equal(pulls.count, 2)
    })

    it('a store that is closed leaves no unfinished image', async () => {
      const pulls = new HeldPulls()
      const images = await host.open({ client: pulledBy(host.registry.client, pulls) })
      await pulls.askInVain(images, await host.push([{ name: 'closed', content: 'x' }]))
      assert.equal((await leftovers(host.directory)).length, 1)
      await images.close()
      assert.deepEqual(await leftovers(host.directory), [])
    })

    it('a failure is not remembered', async () => {
      const layer = await gzipLayer([{ name: 'comes-back', content: 'x' }])
      const reference = await host.pushImage({ layers: [layer] })
      const images = await host.open()
      await tamper(host.registry, digestOf(layer), Buffer.from('damaged'))
      await assert.rejects(images.prepare(wanted(reference)))
      await tamper(host.registry, digestOf(layer), layer)
      assert.equal((await images.prepare(wanted(reference))).kind, 'container')
    })

    it('what a killed agent left unfinished is deleted when the store is opened', async () => {
      await mkdir(join(host.directory, '.tmp', 'half'), { recursive: true })
      await writeFile(join(host.directory, '.tmp', 'half', 'rootfs.squashfs'), 'half')
      await host.open()
      assert.deepEqual(await leftovers(host.directory), [])
    })

    it('images are collected when nobody has used them for an hour', async () => {
      let nowMs = Date.now()
      const pinned: ImageUse[] = []
      const images = await host.open({ nowMs: () => nowMs, pinned: () => pinned })
      const used = await images.prepare(wanted(await host.push([{ name: 'used' }])))
      const old = await images.prepare(wanted(await host.push([{ name: 'old' }])))
      nowMs += 3_500_000
      const recent = await images.prepare(wanted(await host.push([{ name: 'recent' }])))
      pinned.push({ digest: used.digest, userUuid: annUuid })
      assert.deepEqual(await images.collect(), [])
      nowMs += 200_000
      assert.deepEqual(await images.collect(), [old.digest])
      assert.deepEqual(await stored(host.directory), [used.digest, recent.digest].toSorted())
    })

    it('an image counts as used until its last instance ends, however long ago it was asked for', async () => {
      let nowMs = Date.now()
      const pinned: ImageUse[] = []
      const images = await host.open({ nowMs: () => nowMs, pinned: () => pinned })
      const { digest } = await images.prepare(wanted(await host.push([{ name: 'ran' }])))
      pinned.push({ digest, userUuid: annUuid })
      nowMs += 1_000_000_000
      await images.collect()
      pinned.pop()
      nowMs += 3_500_000
      assert.deepEqual(await images.collect(), [])
      nowMs += 200_000
      assert.deepEqual(await images.collect(), [digest])
    })

    it('asking for an image counts as using it', async () => {
      let nowMs = Date.now()
      const images = await host.open({ nowMs: () => nowMs })
      const reference = await host.push([{ name: 'asked-again' }])
      await images.prepare(wanted(reference))
      nowMs += 3_500_000
      await images.prepare(wanted(reference))
      nowMs += 200_000
      assert.deepEqual(await images.collect(), [])
    })

    it('a store that is nearly full gives up unused images after two minutes', async () => {
      let nowMs = Date.now()
      const images = await host.open({ nowMs: () => nowMs, limits: { maxStoreBytes: 900_000 } })
      const { digest } = await images.prepare(
        wanted(await host.push([{ name: 'fills', content: 'x'.repeat(800_000) }])),
      )
      nowMs += 130_000
      assert.deepEqual(await images.collect(), [digest])
      assert.deepEqual(await stored(host.directory), [])
    })
  })
})
