import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'

const shop = `
services:
  web:
    image: hello
    depends_on: [db]
    environment:
      LEVEL: info
      PASSWORD: \${PASSWORD:?give a password}
    ports: ['443:8080', '8443:9000']
    labels:
      roost.domains: \${DOMAIN}
      roost.scale-to-zero: stateful
      team: blue
  db:
    image: docker.io/library/hello:latest
    command: serve --data /data
    mem_limit: 256m
    restart: unless-stopped
    volumes: ['data:/data']
volumes:
  data:
    driver_opts: { size: 64m }
`

describe('up and down', () => {
  let api: TestApi
  let user: TestUser
  let roost: RoostProgram
  let file: string
  let count = 0
  before(async () => {
    api = await startTestApi()
    api.nodes.firstBootUs = 20_000
  })
  beforeEach(async () => {
    user = await api.addUser()
    // A public name belongs to one user.
    env = { ...env, DOMAIN: `shop-${++count}` }
    roost = await createRoostProgram({ url: api.url, token: user.token })
    const directory = path.join(roost.home, 'shop')
    await mkdir(directory)
    file = path.join(directory, 'compose.yaml')
    await writeFile(file, shop)
  })
  afterEach(() => roost.remove())
  after(() => api.close())

  let env = { PASSWORD: 'a secret of nobody', DOMAIN: '' }
  const run = (command: readonly string[]) => roost.run([...command, '-f', file], { env })
  const up = async (...args: readonly string[]) => {
    const ended = await run(['up', ...args])
    assert.equal(ended.code, 0, ended.err)
    assert.ok(!`${ended.out}${ended.err}`.includes(env.PASSWORD))
    return ended
  }
  const change = (from: string, to: string) => writeFile(file, shop.replace(from, to))

  it('up tells the plan, and makes what the file says in the order of the dependencies', async () => {
    const planned = await up('--dry-run')
    assert.deepEqual(planned.out.split('\n').slice(0, 5), [
      'shop:',
      '  + volume data.shop, 64 MiB',
      '  + instance db.shop: hello@sha256:abababababab, 256 MiB, 1 processor, data.shop at /data',
      `  + service web.shop: 443:8080, 8443:9000; ${env.DOMAIN}.metro.test`,
      '  + instance web.shop: hello@sha256:abababababab, 128 MiB, 1 processor',
    ])
    assert.deepEqual(await user.api.call('getInstances'), [])
    const made = await up()
    assert.equal(made.out, 'shop is as the file says\n')
    const web = await user.api.one('getInstances', { object: 'web.shop' })
    assert.deepEqual(web.env, { LEVEL: 'info', PASSWORD: env.PASSWORD })
    assert.deepEqual(web.tags, ['compose:shop', 'team=blue'])
    assert.deepEqual([web.scale_to_zero?.policy, web.scale_to_zero?.stateful], ['on', true])
    assert.deepEqual(
      web.service_group?.domains.map(({ fqdn }) => fqdn),
      [`${env.DOMAIN}.metro.test`],
    )
    const db = await user.api.one('getInstances', { object: 'db.shop' })
    assert.deepEqual(db.args, ['serve', '--data', '/data'])
    assert.deepEqual([db.memory_mb, db.restart_policy, db.state], [256, 'always', InstanceState.Running])
    assert.deepEqual([db.volumes?.[0]?.name, db.volumes?.[0]?.at], ['data.shop', '/data'])
  })

  it('a second up changes nothing, and one with a changed file changes what differs', async () => {
    await up()
    assert.equal((await up()).out, 'shop is as the file says\n')
    await change('LEVEL: info', 'LEVEL: debug')
    const planned = await up('--dry-run')
    assert.equal(
      planned.out,
      'shop:\n  ~ service web.shop: env; it is rolled out, and requests go on meanwhile\n',
    )
    await change("['443:8080', '8443:9000']", "['443:8081']")
    const { out } = await up('--dry-run')
    assert.equal(out, `shop:\n  ~ service web.shop: 443:8081; ${env.DOMAIN}.metro.test\n`)
    await up()
    const service = await user.api.one('getServices', { object: 'web.shop' })
    assert.deepEqual(
      service.services?.map((port) => [port.port, port.destination_port]),
      [[443, 8081]],
    )
  })

  it('what can not be changed is made again, and the plan says so', async () => {
    await up()
    await change("volumes: ['data:/data']", "volumes: ['data:/var']")
    const ended = await up()
    assert.match(
      ended.err,
      /± instance db\.shop: is deleted and made again, because its volume is another one/,
    )
    const db = await user.api.one('getInstances', { object: 'db.shop' })
    assert.equal(db.volumes?.[0]?.at, '/var')
    assert.equal((await up()).out, 'shop is as the file says\n')
  })

  it('what the file does not have any more stays, until its deletion is asked for', async () => {
    await up()
    await writeFile(file, shop.slice(0, shop.indexOf('  db:')).replace('    depends_on: [db]\n', ''))
    assert.match((await up()).out, /kept: db\.shop; --remove-orphans/)
    const removed = await up('--remove-orphans')
    assert.match(removed.err, /- instance db\.shop/)
    const names = (await user.api.call('getInstances')).map((one) => 'name' in one && one.name)
    assert.deepEqual(names, ['web.shop'])
  })

  it('down deletes what the project has, and nothing else; volumes only if that is asked for', async () => {
    await user.api.one('createInstances', { body: { name: 'other.shop', image: 'hello' } })
    await user.api.one('createVolumes', { body: { name: 'other.shop', size_mb: 64 } })
    await up()
    const { out, code, err } = await run(['down'])
    assert.equal(code, 0, err)
    assert.equal(out, 'shop is deleted\n  the volume data.shop stays; --volumes deletes it\n')
    assert.ok(err.indexOf('web.shop is deleted') < err.indexOf('db.shop is deleted'), err)
    const names = async (operation: 'getInstances' | 'getServices' | 'getVolumes') =>
      (await user.api.call(operation)).map((one) => ('name' in one ? (one.name ?? '') : '')).toSorted()
    assert.deepEqual(await names('getInstances'), ['other.shop'])
    assert.deepEqual(await names('getServices'), [])
    assert.deepEqual(await names('getVolumes'), ['data.shop', 'other.shop'])
    await up()
    assert.equal((await run(['down', '--volumes'])).code, 0)
    assert.deepEqual(await names('getVolumes'), ['other.shop'])
  })

  it('down needs the name of a project alone', async () => {
    await up()
    const { code, err } = await roost.run(['down', '-p', 'shop', '--volumes'], { cwd: roost.home })
    assert.equal(code, 0, err)
    assert.deepEqual(await user.api.call('getInstances'), [])
    assert.deepEqual(await user.api.call('getVolumes'), [])
  })

  it('everything that is not there or not allowed is refused together, before anything is made', async () => {
    await writeFile(
      file,
      shop.replace('image: hello\n', 'image: ghcr.io/acme/shop:2\n').replace('256m', '900g'),
    )
    const { code, err } = await run(['up'])
    assert.equal(code, 1)
    assert.match(err, /nothing is changed, because 2 things of the project can not be done/)
    assert.match(err, /compose\.yaml:4: the image acme\/shop:2 is not in the registry .*docker save/)
    assert.match(err, /compose\.yaml:17: the memory of 'db' is 921600 MiB: your account allows/)
    assert.deepEqual(await user.api.call('getVolumes'), [])
  })

  it('an instance of another origin is left alone', async () => {
    await user.api.one('createInstances', { body: { name: 'db.shop', image: 'hello' } })
    const { code, err } = await run(['up'])
    assert.equal(code, 1)
    assert.match(err, /compose\.yaml:\d+: the instance db\.shop exists and is not of this project/)
  })
})
