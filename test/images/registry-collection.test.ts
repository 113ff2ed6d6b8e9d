import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { writeOciLayout } from '../../samples/oci-layout.ts'
import { startOwnedRegistry } from '../support/owned-registry.ts'
import type { OwnedRegistry } from '../support/owned-registry.ts'
import { createPusher } from '../support/registry-pusher.ts'
import type { Pushed, Pusher } from '../support/registry-pusher.ts'
import { skopeoCopy, skopeoDelete } from '../support/skopeo.ts'

const mb = 1_048_576
const noTime = { unreachedMs: 0, uploadMs: 0 }
/** The times of the most eager collection: no age protects anything. */
const eager = { usual: noTime, pressed: noTime, leavingMs: 0, firstMs: 0 }
const forLong = { unreachedMs: 86_400_000, uploadMs: 86_400_000 }

describe('collection in the registry', () => {
  let owned: OwnedRegistry
  let inUse = new Set<string>()
  let times: { -readonly [K in keyof typeof eager]: (typeof eager)[K] } = { ...eager }
  before(async () => {
    owned = await startOwnedRegistry()
  })
  after(() => owned.close())
  beforeEach(async () => {
    inUse = new Set()
    times = { ...eager }
    owned.quotasMb.set('ann', 1_000)
    await emptied()
  })

  async function emptied(): Promise<void> {
    await rm(path.join(owned.registry.storageDirectory, 'docker'), { recursive: true, force: true })
    await restarted()
  }

  /** Starts the owner again, with the present `times`. */
  async function restarted(): Promise<void> {
    await owned.restart({ imagesInUse: async () => inUse, times })
  }

  const collect = () => owned.owner().collect()
  const pusher = (between: () => Promise<void> = async () => undefined): Pusher =>
    createPusher({ url: owned.url, token: (repository) => owned.token('ann', repository), between })

  async function blobsOnDisk(): Promise<number> {
    const blobs = path.join(owned.registry.storageDirectory, 'docker/registry/v2/blobs')
    const found = await readdir(blobs, { recursive: true }).catch(() => [])
    return found.filter((name) => name.endsWith('/data')).length
  }

  it('never deletes anything that a tag or an instance needs, whatever happens between two steps of a push', async function () {
    this.timeout(180_000)
    const pool = Array.from({ length: 5 }, (_, index) =>
      Buffer.from(`layer ${index} ${'x'.repeat(100 * index)}`),
    )
    const repository = fc.constantFrom('ann/one', 'ann/two')
    const tag = fc.constantFrom('v1', 'v2', 'v3')
    const blobs = fc.subarray(pool, { minLength: 1 })
    const operation = fc.oneof(
      { weight: 4, arbitrary: fc.record({ kind: fc.constant('push' as const), repository, tag, blobs }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('index' as const), repository, tag, blobs }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('delete' as const),
          repository,
          tag,
          byDigest: fc.boolean(),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('use' as const), repository, tag }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('unuse' as const) }) },
    )
    const plan = fc.record({
      operations: fc.array(operation, { minLength: 4, maxLength: 12 }),
      // Between two steps there is nothing, a whole collection, or one that runs beside the next steps.
      between: fc.infiniteStream(fc.constantFrom('nothing', 'collect', 'beside')),
    })
    await fc.assert(
      fc.asyncProperty(plan, async ({ operations, between }) => {
        inUse = new Set()
        await emptied()
        const tags = new Map<string, string>()
        const beside: Promise<void>[] = []
        const disturbed = pusher(async () => {
          const what = between.next().value
          if (what === 'collect') await collect()
          if (what === 'beside') beside.push(collect())
        })
        const calm = pusher()
        for (const one of operations) {
          if (one.kind === 'unuse') {
            inUse = new Set([...inUse].slice(1))
            continue
          }
          const to = { repository: one.repository, reference: one.tag }
          const key = `${one.repository}:${one.tag}`
          if (one.kind === 'push') {
            let pushed = await disturbed.image(to, one.blobs)
            await Promise.all(beside.splice(0))
            // The owner also collects by itself after a deletion, and no age protects a push here. If that
            // took a layer of this push, the client pushes again.
            for (let tries = 0; pushed === undefined && tries < 5; tries++)
              pushed = await calm.image(to, one.blobs)
            assert.ok(pushed, 'a push that is repeated is taken')
            tags.set(key, pushed.digest)
          } else if (one.kind === 'index') {
            const pushed = await pushIndex({ disturbed, calm, beside }, to, one.blobs)
            tags.set(key, pushed.digest)
          } else if (one.kind === 'use') {
            const digest = tags.get(key)
            if (digest !== undefined) inUse.add(`${one.repository}@${digest}`)
          } else {
            const digest = tags.get(key)
            const reference = one.byDigest && digest !== undefined ? digest : one.tag
            assert.equal(await calm.delete(one.repository, reference), digest === undefined ? 404 : 202)
            for (const [name, other] of tags) {
              const isSame = name === key || (one.byDigest && other === digest)
              if (isSame && name.startsWith(`${one.repository}:`)) tags.delete(name)
            }
          }
          await collect()
          for (const name of tags.keys()) {
            const [repository = '', tag = ''] = name.split(':')
            assert.deepEqual(await calm.missing(repository, tag), [], name)
          }
          for (const image of inUse) {
            const [repository = '', digest = ''] = image.split('@')
            assert.deepEqual(await calm.missing(repository, digest), [], image)
          }
        }
        await Promise.all(beside)
        inUse = new Set()
        for (const name of tags.keys()) {
          const [repository = '', tag = ''] = name.split(':')
          await calm.delete(repository, tag)
        }
        await collect()
        await collect()
        assert.equal(await blobsOnDisk(), 0)
      }),
      { numRuns: 12 },
    )
  })

  async function pushIndex(
    by: { readonly disturbed: Pusher; readonly calm: Pusher; readonly beside: Promise<void>[] },
    to: { repository: string; reference: string },
    blobs: readonly Buffer[],
  ): Promise<Pushed> {
    const { repository } = to
    for (const one of [by.disturbed, by.calm, by.calm, by.calm, by.calm]) {
      const children = [
        await one.image({ repository }, blobs),
        await one.image({ repository }, blobs.slice(0, 1)),
      ]
      const there = children.filter((child) => child !== undefined)
      const pushed = there.length === 2 ? await one.index(to, there) : undefined
      await Promise.all(by.beside.splice(0))
      if (pushed !== undefined) return pushed
    }
    return assert.fail('an index that is pushed again is taken')
  }

  it('gives the quota of deleted images back, layers that others need excepted', async () => {
    owned.quotasMb.set('ann', 15)
    await restarted()
    const shared = randomBytes(4 * mb)
    const own = randomBytes(6 * mb)
    const to = { repository: 'ann/app', reference: 'v1' }
    await pusher().image(to, [shared, own])
    const other = await pusher().image({ ...to, reference: 'v2' }, [shared])
    assert.equal(await pusher().image({ ...to, reference: 'v3' }, [randomBytes(6 * mb)]), undefined)
    assert.equal((await skopeoDelete(`docker://${owned.host}/ann/app:v1`, 'ann')).complaint, '')
    await collect()
    assert.notEqual(await pusher().image({ ...to, reference: 'v3' }, [randomBytes(6 * mb)]), undefined)
    assert.ok(other)
    assert.deepEqual(await pusher().missing('ann/app', other.digest), [])
  })

  it('deletes one tag if only the tag is named, and says if there is none', async () => {
    for (const reference of ['v1', 'v2'])
      await pusher().image({ repository: 'ann/app', reference }, [Buffer.from('x')])
    assert.equal(await pusher().delete('ann/app', 'v1'), 202)
    assert.equal(await pusher().delete('ann/app', 'v1'), 404)
    await collect()
    assert.deepEqual(await pusher().missing('ann/app', 'v2'), [])
    assert.notDeepEqual(await pusher().missing('ann/app', 'v1'), [])
  })

  it('tells what was pushed and deleted, each once, and nothing that was refused', async () => {
    const told = owned.changes.length
    const image = { repository: 'ann/told', reference: 'v1' }
    const pushed = await pusher().image(image, [Buffer.from('x')])
    assert.equal(await pusher().delete('ann/told', 'v1'), 202)
    assert.equal(await pusher().delete('ann/told', 'v1'), 404)
    owned.quotasMb.set('ann', 0)
    await restarted()
    assert.equal(await pusher().image({ ...image, reference: 'v2' }, [Buffer.from('y')]), undefined)
    assert.deepEqual(owned.changes.slice(told), [
      { kind: 'pushed', ...image, digest: pushed?.digest },
      { kind: 'deleted', ...image, digest: pushed?.digest },
    ])
  })

  it('keeps what is young, and what lost its tag shortly before', async () => {
    times = { ...eager, usual: forLong, pressed: forLong }
    await restarted()
    const first = await pusher().image({ repository: 'ann/app', reference: 'v1' }, [Buffer.from('one')])
    await pusher().image({ repository: 'ann/app', reference: 'v1' }, [Buffer.from('two')])
    await collect()
    assert.ok(first)
    assert.deepEqual(await pusher().missing('ann/app', first.digest), [])
    times = { ...eager }
    await restarted()
    await collect()
    await collect()
    assert.notDeepEqual(await pusher().missing('ann/app', first.digest), [])
  })

  it('restores a manifest of a deleted tag if an instance turns out to need it', async () => {
    times = { ...eager, leavingMs: 60_000 }
    await restarted()
    const pushed = await pusher().image({ repository: 'ann/app', reference: 'v1' }, [Buffer.from('one')])
    assert.ok(pushed)
    await pusher().delete('ann/app', 'v1')
    await collect()
    assert.notDeepEqual(await pusher().missing('ann/app', pushed.digest), [])
    inUse = new Set([`ann/app@${pushed.digest}`])
    await collect()
    assert.deepEqual(await pusher().missing('ann/app', pushed.digest), [])
  })

  it('loses nothing of pushes by skopeo that are killed at any moment', async function () {
    this.timeout(120_000)
    // A push takes less than 300 ms here, unless it is killed.
    const short = { unreachedMs: 300, uploadMs: 300 }
    times = { ...eager, usual: short, pressed: short }
    await restarted()
    const layout = await mkdtemp(path.join(tmpdir(), 'roost-layout-'))
    const files = [{ path: 'data', content: randomBytes(8 * mb) }]
    await writeOciLayout(layout, [{ name: 'app', files, config: { Cmd: ['/x'] } }])
    let collecting = true
    const collections = (async () => {
      while (collecting) await collect()
    })()
    try {
      const to = `docker://${owned.host}/ann/app`
      const push = () => skopeoCopy({ from: `oci:${layout}:app`, to: `${to}:latest`, user: 'ann' })
      for (let killedAfterMs = 20; killedAfterMs <= 320; killedAfterMs += 60) {
        const creds = '--dest-creds=ann:ann-secret'
        const args = [
          '--insecure-policy',
          'copy',
          '-q',
          '--dest-tls-verify=false',
          creds,
          `oci:${layout}:app`,
          `${to}:half`,
        ]
        const half = spawn('skopeo', args, { stdio: 'ignore' })
        const ended = once(half, 'exit')
        setTimeout(() => half.kill('SIGKILL'), killedAfterMs)
        await ended
      }
      let pushed = await push()
      // With so short an age a collection may delete a layer of a push under way. The push is repeated then.
      for (let tries = 0; !pushed.ok && tries < 20; tries++) pushed = await push()
      assert.equal(pushed.complaint, '')
      assert.deepEqual(await pusher().missing('ann/app', 'latest'), [])
    } finally {
      collecting = false
      await collections
      await rm(layout, { recursive: true })
    }
  })
})
