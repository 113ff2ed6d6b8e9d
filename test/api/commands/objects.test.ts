import assert from 'node:assert/strict'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { Ended, RoostProgram } from '../../support/roost-program.ts'

describe('commands about services, volumes, autoscale and the account', () => {
  let api: TestApi
  let user: TestUser
  let roost: RoostProgram
  before(async () => {
    api = await startTestApi()
  })
  beforeEach(async () => {
    user = await api.addUser()
    roost = await createRoostProgram({ url: api.url, token: user.token })
  })
  afterEach(() => roost.remove())
  after(() => api.close())

  async function done(...args: readonly string[]): Promise<string> {
    const ended = await roost.run(args)
    assert.equal(ended.code, 0, `${args.join(' ')}: ${ended.err}`)
    return ended.out
  }

  it('service creates, lists, inspects and deletes services', async () => {
    const made = await done('service', 'create', 'shop', '-p', '443:8080', '--domain', 'shop-a')
    assert.equal(made, 'shop is created\nhttps://shop-a.metro.test\n')
    assert.match(await done('service', 'ls'), /\nshop +443:8080\/.* +shop-a\.metro\.test/)
    assert.equal(JSON.parse(await done('service', 'inspect', 'shop')).name, 'shop')
    assert.equal(await done('open', 'shop', '--print'), 'https://shop-a.metro.test\n')
    assert.equal(await done('service', 'rm', 'shop'), 'shop is deleted\n')
  })

  it('service set changes ports, domains and limits, and says what changed', async () => {
    await done('service', 'create', 'till', '-p', '443:8080', '--domain', 'till-a')
    const args = ['--soft-limit', '5', '--publish', '443:3000', '--publish', '8443', '--add-domain', 'till-b']
    assert.equal(
      await done('service', 'set', 'till', ...args),
      'till is changed: soft limit, ports, domains\nhttps://till-a.metro.test\nhttps://till-b.metro.test\n',
    )
    assert.match(
      await done('service', 'ls'),
      /\ntill +443:3000\/tls\+http,8443:8443\/tls +till-a\.metro\.test,till-b\.metro\.test/,
    )
    assert.equal(await done('service', 'set', 'till', ...args), 'nothing changed\n')
    const less = ['--unpublish', '8443', '--remove-domain', 'till-a.metro.test', '--hard-limit', '9']
    assert.match(
      await done('service', 'set', 'till', ...less),
      /^till is changed: hard limit, ports, domains\n/,
    )
    const added = ['--add-domain', 'shop.example.com']
    const shown = JSON.parse(await done('service', 'set', 'till', ...added, '-o', 'json'))
    assert.deepEqual(shown.changed, ['domains'])
    const { name } = shown.domains[1].certificate
    assert.equal(
      await done('service', 'set', 'till', '--add-domain', `shop.example.com=${name}`),
      'nothing changed\n',
    )
  })

  it('service set says why it changes nothing', async () => {
    await done('service', 'create', 'desk', '-p', '443:8080')
    const failed = async (...args: readonly string[]) => {
      const { code, err } = await roost.run(['service', 'set', 'desk', ...args])
      return [code, err]
    }
    assert.deepEqual(await failed(), [
      2,
      'roost: there is nothing to change: give an option, such as --publish 443:8080\n',
    ])
    assert.equal((await failed('--unpublish', 'x'))[0], 2)
    assert.equal((await failed('--add-domain', '=c'))[0], 2)
    const [code, sentence] = await failed('--unpublish', '81')
    assert.equal(code, 3)
    assert.match(
      String(sentence),
      /^roost: Port 81 is not published by service group 'desk', so .* published: 443/,
    )
    assert.equal((await failed('--add-domain', 'a.example.com=none'))[0], 3)
  })

  it('volume creates, attaches, detaches and deletes volumes', async () => {
    await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
    assert.equal(await done('volume', 'create', 'notes', '--size', '1G'), 'notes is created\n')
    assert.equal(await done('volume', 'attach', 'notes', 'web', '/data'), 'notes is attached to web\n')
    assert.match(await done('volume', 'ls'), /\nnotes +idle +1024 MiB +web/)
    assert.equal(await done('volume', 'detach', 'notes'), 'notes is detached\n')
    assert.equal(await done('volume', 'rm', 'notes'), 'notes is deleted\n')
  })

  it('autoscale scales a service by options and a configuration from standard input', async () => {
    await done('service', 'create', 'busy', '-p', '443:8080', '--domain', 'busy')
    await user.api.one('createInstances', {
      body: { name: 'busy', image: 'hello', service_group: { name: 'busy' } },
    })
    const steps = [{ lower_bound: 100, adjustment: 1 }]
    const input = JSON.stringify({ policies: [{ name: 'load', type: 'step', steps }] })
    const args = ['autoscale', 'create', 'busy', '--master', 'busy', '--max', '3', '--config', '-']
    const made = await roost.run(args, { input })
    assert.deepEqual([made.code, made.out], [0, 'busy is scaled\n'], made.err)
    assert.match(await done('autoscale', 'ls'), /\nbusy +yes +1 to 3 +busy +load/)
    assert.equal(await done('autoscale', 'rm', 'busy'), 'busy is not scaled any more\n')
  })

  it('token makes tokens with few rights, which say what they may not do', async () => {
    const token = (await done('token', 'create', '--label', 'viewer', '--scope', 'read')).trim()
    const viewer = await createRoostProgram({ url: api.url, token })
    assert.equal((await viewer.run(['ps'])).code, 0)
    const refused = await viewer.run(['volume', 'create', '--size', '64'])
    assert.equal(refused.code, 4)
    assert.match(refused.err, /Use a token with more rights/)
    await viewer.remove()
    const found = JSON.parse(await done('token', 'ls', '-o', 'json')).find(
      (one: { readonly label: string }) => one.label === 'viewer',
    )
    assert.match(await done('token', 'rm', found.uuid), /is not valid any more/)
    const long = await roost.run(['token', 'create', '--days', '3651'])
    assert.deepEqual([long.code, long.out], [2, ''])
    assert.match(long.err, /no value for --days: expected a whole number from 1 to 3650/)
  })

  it('quota shows what is used of what the account may have', async () => {
    assert.match(await done('quota'), /^QUOTA +USED +OF\n/)
  })

  it('explain finds an object of any kind by its name, and says why it is as it is', async () => {
    await user.api.one('createInstances', { body: { name: 'web', image: 'hello' } })
    await done('volume', 'create', 'notes', '--size', '64')
    assert.match(await done('explain', 'web'), /^web .*\nnext: /)
    assert.match(await done('explain', 'notes'), /^notes .*\nnext: /)
    assert.equal(JSON.parse(await done('explain', 'web', '-o', 'json')).state, 'stopped')
    const missing = await roost.run(['explain', 'nothing'])
    assert.deepEqual([missing.code, missing.err], [3, "roost: nothing is named 'nothing'\n"])
  })

  it('names the address that does not answer, and what to do', async () => {
    const ended = await roost.run(['ps'], { env: { ROOST_ADDRESS: 'http://127.0.0.1:9' } })
    assert.equal(ended.code, 5)
    assert.match(
      ended.err,
      /^roost: http:\/\/127\.0\.0\.1:9 does not answer: .*\nIs the installation running/,
    )
  })

  it('tells operators the new form of a command that users have now', async () => {
    const calls: readonly (readonly [readonly string[], string])[] = [
      [['token', 'create', 'ann'], 'roost admin token create'],
      [['token', 'list', '--user', 'ann'], 'roost admin token list'],
      [['volume', 'repair', 'notes'], 'roost admin volume repair'],
      [['cert', 'retry', 'shop'], 'roost admin cert retry'],
      [['autoscale', 'explain', 'busy', '--user', 'ann'], 'roost admin autoscale explain'],
      [['explain', 'web', '--json'], 'roost admin explain'],
    ]
    const ended: Ended[] = []
    for (const [args] of calls) ended.push(await roost.run(args))
    for (const [index, [, spelling]] of calls.entries()) {
      assert.equal(ended[index]!.code, 2)
      assert.ok(ended[index]!.err.includes(`\`${spelling}\``), ended[index]!.err)
    }
  })

  it('lead to operators’ commands that need no installation’s API', async () => {
    assert.match(await done('admin', '--help'), /^Usage: roost admin /)
    assert.match(await done('node', '--help'), /^Usage: roost admin node /)
  })

  it('autoscale try says what a configuration would have done', async () => {
    const { service_group: service } = await user.api.one('createInstances', {
      body: { name: 'tried', image: 'hello', service_group: { services: [{ port: 443 }] } },
    })
    const newestMs = Math.floor(Date.now() / 5_000) * 5_000
    const none = { rssBytes: 1, rxBytes: 0, rxPackets: 0, txBytes: 0, txPackets: 0, handled: 0, wakes: 0 }
    const used = { ...none, seenMs: 5_000, cpuTimeMs: 4_500, inFlightMs: 0 }
    const steps = Array.from({ length: 24 }, (_, index) => ({
      ...used,
      atMs: newestMs - (24 - index) * 5_000,
    }))
    api.nodes.histories.set(`local ${service?.uuid}`, steps)
    const policy = { name: 'grow', type: 'step', steps: [{ lower_bound: 500, adjustment: 1 }] }
    const input = JSON.stringify({ master: { name: 'tried' }, policies: [policy] })
    const tried = await roost.run(['autoscale', 'try', service!.name, '--config', '-'], { input })
    assert.equal(tried.code, 0, tried.err)
    assert.match(
      tried.out,
      /^The load of 2 min was recorded\. It would have had 1 to 2 instances, after 1 change of the size: .*\n\nTIME +DECISION\n\S+Z +.*900.*\n$/,
    )
    const wrong = await roost.run(['autoscale', 'try', service!.name, '--last', '2d'])
    assert.equal(wrong.code, 2)
    assert.match(wrong.err, /'2d' is no recorded time: it is 1h or 1d/)
  })
})
