import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Pool } from 'pg'
import { viewOf } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { createRoostProgram } from '../support/roost-program.ts'
import type { RoostProgram } from '../support/roost-program.ts'
import { sharedStack } from '../support/shared-stack.ts'
import { writeShopImages } from '../support/shop-images.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0
/** Five guests on a busy machine without KVM need minutes. */
const limitMs = 500_000
const password = 'of-this-test-alone'

interface Shop {
  readonly greeting: string
  readonly orders: readonly { readonly text: string; readonly done_by: string | null }[]
}

describe('a project with a web application, PostgreSQL and a queue', function () {
  this.timeout(limitMs)
  let stack: Stack
  let names: PublicNames
  let roost: RoostProgram
  let directory: string
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    roost = await createRoostProgram({ url: stack.apiUrl, token: stack.token })
    directory = await mkdtemp(path.join(tmpdir(), 'roost-shop-'))
    const layout = path.join(directory, 'images')
    await writeShopImages(layout)
    for (const image of ['shop-app:v1', 'postgres:18']) {
      await done(['push', layout, image, '--image', image, '--registry', `http://${stack.registry}`])
    }
    await cp(path.resolve('test/fixtures/shop'), path.join(directory, 'shop'), { recursive: true })
  })
  after(async () => {
    await names?.close()
    await roost?.remove()
    if (directory !== undefined) await rm(directory, { recursive: true })
  })

  const done = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const cwd = path.join(directory, args[0] === 'push' ? '' : 'shop')
    const ended = await roost.run(args, {
      env: { DB_PASSWORD: password, ...env },
      cwd,
      limitMs,
    })
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.out}${ended.err}`)
    assert.ok(!`${ended.out}${ended.err}`.includes(password))
    return ended
  }
  /** The answer of a page, once the application listens: Node begins slowly in an emulated guest. */
  const shop = async (page: string): Promise<Shop> => {
    let found: Shop | undefined
    await until(
      `the page ${page} answers`,
      async () => {
        const { status, text } = await names.get(`https://orders.roost.localhost/${page}`)
        found = status === 200 ? (JSON.parse(text) as Shop) : undefined
        return found !== undefined
      },
      { limitMs },
    )
    return found!
  }
  const starts = async (name: string) => (await viewOf(stack.api, name)).start_count
  const uuids = async () =>
    new Map(
      (await stack.api.call('getInstances')).flatMap((one) => ('image' in one ? [[one.name, one.uuid]] : [])),
    )
  const upToDate = 'orders is as the file says\n'

  it('comes up in the order of its dependencies, each service under its own name to the others', async () => {
    const { out, err } = await done(['up'])
    assert.equal(out, upToDate)
    const order = [
      'db.orders runs',
      'db is healthy',
      'migrate.orders runs',
      'migrate has completed',
      'web.orders runs',
    ]
    const told = err.slice(err.indexOf('data.orders is created'))
    const places = order.map((line) => told.indexOf(`${line}\n`))
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      err,
    )
    assert.ok(!places.includes(-1), err)
    const { greeting, orders } = await shop('add?text=tea')
    assert.equal(greeting, 'hello')
    assert.equal(orders.at(-1)?.text, 'tea')
    const isDone = async () => (await shop('orders')).orders.at(-1)?.done_by === 'worker.orders'
    await until('the worker has done it', isDone, { limitMs })
  })

  it('takes clients of PostgreSQL through a tunnel, with 48 MB to it and twice as much back', async () => {
    const tunnel = roost.start(['tunnel', 'db.orders', '0:5432'], { limitMs })
    try {
      const listens = () => /^127\.0\.0\.1:(\d+) leads/m.exec(tunnel.out())?.[1]
      const port = Number(await until('the tunnel listens', listens, { limitMs }))
      const access = { host: '127.0.0.1', port, user: 'shop', database: 'shop', password }
      await checkDatabase(new Pool({ ...access, max: 8 }))
    } finally {
      tunnel.child.kill('SIGINT')
    }
    const { code, err } = await tunnel.ended
    assert.deepEqual([code, err], [0, ''])
  })

  it('stays as it is, if the file is the same', async () => {
    assert.equal((await done(['up'])).out, upToDate)
    assert.equal((await done(['up', '--dry-run'])).out, upToDate)
  })

  it('gets only the differences of a changed file', async () => {
    const changed = { GREETING: 'good day' }
    const planned = await done(['up', '--dry-run'], changed)
    assert.equal(
      planned.out,
      'orders:\n  … until migrate has completed\n  … until queue is healthy\n' +
        '  ~ service web.orders: env; it is rolled out, and requests go on meanwhile\n',
    )
    const before = await uuids()
    await done(['up'], changed)
    const { greeting, orders } = await shop('orders')
    assert.deepEqual([greeting, orders[0]?.text], ['good day', 'tea'])
    const after = await uuids()
    assert.deepEqual([...after.keys()].toSorted(), [...before.keys()].toSorted())
    const renewed = [...after].filter(([name, uuid]) => before.get(name) !== uuid)
    assert.deepEqual(
      renewed.map(([name]) => name),
      ['web.orders'],
    )
    assert.deepEqual([await starts('db.orders'), await starts('migrate.orders')], [1, 1])
    assert.equal((await done(['up'], changed)).out, upToDate)
  })

  it('goes, and comes again with what its volume has', async () => {
    const { out } = await done(['down'])
    assert.match(out, /the volume data\.orders stays/)
    const left = await stack.api.call('getInstances')
    assert.deepEqual(
      left.filter(({ tags }) => tags?.includes('compose:orders')),
      [],
    )
    await done(['up'])
    assert.equal((await shop('orders')).orders[0]?.text, 'tea')
    await done(['down', '--volumes'])
    const volumes = await stack.api.call('getVolumes')
    assert.deepEqual(
      volumes.filter(({ name }) => name.endsWith('.orders')),
      [],
    )
  })
})

/** Writes and reads over as many connections as the pool may have, all at the same time. */
async function checkDatabase(pool: Pool): Promise<void> {
  try {
    await pool.query('create table passed (id int primary key, body text not null)')
    const bodies = Array.from({ length: 48 }, () => randomBytes(750_000).toString('base64'))
    await Promise.all(
      bodies.map(async (body, id) => await pool.query('insert into passed values ($1, $2)', [id, body])),
    )
    const read = bodies.map(async (body, id) => {
      const { rows } = await pool.query<{ body: string }>('select body from passed where id = $1', [id])
      return rows[0]?.body === body
    })
    assert.deepEqual(new Set(await Promise.all(read)), new Set([true]))
    assert.equal(pool.totalCount, 8)
    const all = await pool.query<{ body: string }>('select body from passed order by id')
    assert.ok(all.rows.every(({ body }, id) => body === bodies[id]))
    await pool.query('drop table passed')
  } finally {
    await pool.end()
  }
}
