import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RegistryClient } from '../../src/registry/registry-client.ts'
import { digestOf } from '../../src/registry/verified-stream.ts'
import { gzipLayer } from '../support/oci-image.ts'
import { hostFixture, leftovers, stored, tamper } from './host-fixture.ts'

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

    it('a digest is made once however many ask at once, and not again afterwards', async () => {
      const { client, pulls } = counting()
      const images = await host.open({ client })
      const reference = await host.push([{ name: 'shared', content: 'x' }])
      const all = await Promise.all(Array.from({ length: 20 }, () => images.prepare(reference)))
      assert.equal(new Set(all.map((image) => (image.kind === 'container' ? image.rootfsPath : ''))).size, 1)
      await images.prepare(reference)
      await (await host.open({ client })).prepare(reference)
      assert.equal(pulls(), 1)
    })

    it('one who gives up does not disturb the others', async () => {
      const images = await host.open()
      const reference = await host.push([{ name: 'patience', content: 'x' }])
      const impatient = new AbortController()
      const first = images.prepare(reference, impatient.signal)
      const second = images.prepare(reference)
      impatient.abort(new Error('no more'))
      await assert.rejects(first, /no more/)
      assert.equal((await second).kind, 'container')
    })

    it('when the last one has given up, nothing is left and a later call succeeds', async () => {
      const images = await host.open()
      const reference = await host.push([{ name: 'given-up', content: 'x' }])
      const impatient = new AbortController()
      const only = images.prepare(reference, impatient.signal)
      impatient.abort(new Error('no more'))
      await assert.rejects(only, /no more/)
      assert.equal((await images.prepare(reference)).kind, 'container')
      assert.deepEqual(await readdir(join(host.directory, '.tmp')), [])
    })

    it('a failure is not remembered', async () => {
      const layer = await gzipLayer([{ name: 'comes-back', content: 'x' }])
      const reference = await host.pushImage({ layers: [layer] })
      const images = await host.open()
      await tamper(host.registry, digestOf(layer), Buffer.from('damaged'))
      await assert.rejects(images.prepare(reference))
      await tamper(host.registry, digestOf(layer), layer)
      assert.equal((await images.prepare(reference)).kind, 'container')
    })

    it('what a killed agent left unfinished is deleted when the store is opened', async () => {
      await mkdir(join(host.directory, '.tmp', 'half'), { recursive: true })
      await writeFile(join(host.directory, '.tmp', 'half', 'rootfs.squashfs'), 'half')
      await host.open()
      assert.deepEqual(await leftovers(host.directory), [])
    })

    it('images are collected when nobody uses them and nobody has for an hour', async () => {
      let nowMs = Date.now()
      const images = await host.open({ nowMs: () => nowMs })
      const used = await images.prepare(await host.push([{ name: 'used' }]))
      const old = await images.prepare(await host.push([{ name: 'old' }]))
      nowMs += 3_500_000
      const recent = await images.prepare(await host.push([{ name: 'recent' }]))
      assert.deepEqual(await images.collect(new Set([used.digest])), [])
      nowMs += 200_000
      assert.deepEqual(await images.collect(new Set([used.digest])), [old.digest])
      assert.deepEqual(await stored(host.directory), [used.digest, recent.digest].toSorted())
    })

    it('asking for an image counts as using it', async () => {
      let nowMs = Date.now()
      const images = await host.open({ nowMs: () => nowMs })
      const reference = await host.push([{ name: 'asked-again' }])
      await images.prepare(reference)
      nowMs += 3_500_000
      await images.prepare(reference)
      nowMs += 200_000
      assert.deepEqual(await images.collect(new Set()), [])
    })

    it('a store that is nearly full gives up unused images after two minutes', async () => {
      let nowMs = Date.now()
      const images = await host.open({ nowMs: () => nowMs, limits: { maxStoreBytes: 10_000 } })
      const { digest } = await images.prepare(
        await host.push([{ name: 'fills', content: 'x'.repeat(20_000) }]),
      )
      nowMs += 130_000
      assert.deepEqual(await images.collect(new Set()), [digest])
      assert.deepEqual(await stored(host.directory), [])
    })
  })
})
