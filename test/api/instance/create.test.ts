import { strict as assert } from 'node:assert'
import { NodeUnavailable } from '../../../src/control/host-client.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { resetFaults } from '../../support/fake-control.ts'
import { readRows } from '../../support/rows.ts'

describe('creating instances', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    api.images.references.set('official/labelled:latest', {
      labels: { 'roost.memory_mb': '300', 'roost.restart_policy': 'on-failure' },
    })
  })
  after(() => api.close())
  beforeEach(async () => {
    delete api.nodes.fails
    delete api.nodes.firstBootUs
    delete api.nodes.holdsFirstBoots
    resetFaults(api.control)
    user = await api.addUser()
  })

  const create = (body: object) => user.api.attempt('createInstances', { body })
  const view = (object: string) => user.api.one('getInstances', { object })

  it('makes them stopped, with a generated name and all that was asked for', async () => {
    const created = await user.api.one('createInstances', {
      body: {
        image: 'hello:latest',
        memory_mb: 57,
        env: { A: 'b' },
        args: ['x', 'y z'],
        restart_policy: 'always',
      },
    })
    assert.match(created.name, /^hello-[a-z0-9]{5}$/)
    assert.equal(created.state, 'stopped')
    assert.equal(created.private_fqdn, `${created.name}.internal`)
    assert.ok(!('boot_time_us' in created))
    const seen = await view(created.name)
    assert.match(seen.image ?? '', /^hello@sha256:[0-9a-f]{64}$/)
    assert.match(seen.created_at ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.deepEqual(
      [seen.memory_mb, seen.vcpus, seen.env, seen.args, seen.restart_policy, seen.start_count],
      [57, 1, { A: 'b' }, ['x', 'y z'], 'always', 0],
    )
    const scaleToZero = { enabled: false, policy: 'off', cooldown_time_ms: 1000, stateful: false }
    assert.deepEqual(seen.scale_to_zero, scaleToZero)
    assert.equal(seen.network_interfaces?.[0]?.private_ip, created.private_ip)
  })

  it('lowers the name, and names replicas after it', async () => {
    const created = await user.api.call('createInstances', {
      body: { image: 'hello', name: 'WEB', replicas: 2 },
    })
    assert.equal(created[0]?.name, 'web')
    assert.match(created[1]?.name ?? '', /^web-[a-z0-9]{5}$/)
    assert.match(created[2]?.name ?? '', /^web-[a-z0-9]{5}$/)
    assert.equal(new Set(created.map((each) => each.private_ip)).size, 3)
  })

  it('takes an empty name for none', async () => {
    const created = await user.api.one('createInstances', { body: { image: 'hello', name: '' } })
    assert.match(created.name, /^hello-[a-z0-9]{5}$/)
  })

  it('takes what was left out from labels of the image, and 128 MB where they say nothing', async () => {
    const labelled = await user.api.one('createInstances', { body: { image: 'labelled' } })
    const plain = await user.api.one('createInstances', { body: { image: 'hello' } })
    const own = await user.api.one('createInstances', { body: { image: 'labelled', memory_mb: 64 } })
    assert.equal((await view(labelled.uuid)).memory_mb, 300)
    assert.equal((await view(labelled.uuid)).restart_policy, 'on-failure')
    assert.equal((await view(plain.uuid)).memory_mb, 128)
    assert.equal((await view(plain.uuid)).restart_policy, 'never')
    assert.equal((await view(own.uuid)).memory_mb, 64)
  })

  for (const args of [undefined, [''], '', [], ['/hello --port 8080'], '/hello --port 8080']) {
    it(`leaves the arguments to the image with ${JSON.stringify(args)}`, async () => {
      const created = await user.api.one('createInstances', { body: { image: 'hello', args } })
      assert.equal((await view(created.uuid)).args, undefined)
    })
  }

  it('replaces the line of the image by its words if further arguments follow the line', async () => {
    api.images.references.set('official/quoted:latest', { args: `sh -c "echo a  b"` })
    api.images.references.set('official/bare:latest', {})
    api.images.references.set('official/entered:latest', { args: '/enter --now', hasEntrypoint: true })
    const argsOf = async (image: string, args: readonly string[]) =>
      (await view((await user.api.one('createInstances', { body: { image, args } })).uuid)).args
    assert.deepEqual(await argsOf('hello', ['/hello --port 8080', '-v']), ['/hello', '--port', '8080', '-v'])
    assert.deepEqual(await argsOf('hello', ['/hello --port 8080', 'x y', '']), [
      '/hello',
      '--port',
      '8080',
      'x y',
      '',
    ])
    assert.deepEqual(await argsOf('quoted', ['sh -c "echo a  b"', 'x']), ['sh', '-c', 'echo a  b', 'x'])
    assert.deepEqual(await argsOf('bare', ['', '-v']), ['-v'])
    for (const args of [
      ['/hello --port', '8080'],
      ['/hello  --port 8080', '-v'],
      ['-v', '/hello --port 8080'],
      ['', '-v'],
    ]) {
      assert.deepEqual(await argsOf('hello', args), args)
    }
    // The line stays if the image has an entrypoint: only the host knows which words are the entrypoint's.
    assert.deepEqual(await argsOf('entered', ['/enter --now', '-v']), ['/enter --now', '-v'])
    assert.equal(await argsOf('entered', ['/enter --now']), undefined)
  })

  it('splits arguments that are one line', async () => {
    const created = await user.api.one('createInstances', {
      body: { image: 'hello', args: `sh -c 'echo "a b"'` },
    })
    assert.deepEqual((await view(created.uuid)).args, ['sh', '-c', 'echo "a b"'])
  })

  it('answers `starting` with autostart, and does not wait', async () => {
    api.control.faults.holdsStarts = true
    const created = await user.api.one('createInstances', { body: { image: 'hello', autostart: true } })
    assert.equal(created.state, 'starting')
    assert.equal((await view(created.uuid)).state, 'starting')
  })

  it('waits until all run, and tells their boot time', async () => {
    const created = await user.api.call('createInstances', {
      body: { image: 'hello', replicas: 1, autostart: true, wait_timeout_ms: -1 },
    })
    assert.deepEqual(
      created.map(({ state, boot_time_us }) => [state, boot_time_us]),
      [
        ['running', 12_345],
        ['running', 12_345],
      ],
    )
  })

  it('answers as soon as the host says that the first boot is up, before the row says so', async () => {
    api.control.faults.holdsStarts = true
    api.nodes.firstBootUs = 54_321
    const created = await user.api.one('createInstances', {
      body: { image: 'hello', autostart: true, wait_timeout_ms: 5_000 },
    })
    assert.deepEqual([created.state, created.boot_time_us], ['running', 54_321])
    assert.equal((await view(created.uuid)).state, 'running')
  })

  it('starts the workflow while the first boot goes on', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    api.nodes.holdsFirstBoots = promise
    const created = await user.api.one('createInstances', {
      body: { image: 'hello', autostart: true, wait_timeout_ms: 5_000 },
    })
    assert.equal(created.state, 'running')
    resolve()
  })

  it('leaves the first boot to the workflow where the host does not answer', async () => {
    api.nodes.fails = new NodeUnavailable('the host is silent')
    const created = await user.api.one('createInstances', {
      body: { image: 'hello', autostart: true, wait_timeout_ms: 5_000 },
    })
    assert.equal(created.state, 'running')
  })

  it('asks no host to begin an instance without autostart', async () => {
    const before = api.nodes.calls.filter((call) => call === 'first boot').length
    await user.api.one('createInstances', { body: { image: 'hello' } })
    assert.equal(api.nodes.calls.filter((call) => call === 'first boot').length, before)
  })

  it('says with the identifiers and the state that the wait timed out', async () => {
    api.control.faults.holdsStarts = true
    const answer = await create({ image: 'hello', name: 'slow', autostart: true, wait_timeout_ms: 30 })
    assert.equal(answer.status, 'error')
    const [entry] = answer.entries
    assert.partialDeepStrictEqual(entry, {
      status: 'error',
      name: 'slow',
      state: 'starting',
      message: 'Operation timed out',
      error: 12,
    })
  })

  it('counts an application as started if it ended before the wait read its state', async () => {
    api.control.faults.endsAtOnce = true
    const body = { image: 'hello', autostart: true, wait_timeout_ms: 5_000 }
    assert.equal((await user.api.one('createInstances', { body })).state, 'stopped')
  })

  it('says why an instance could not be started', async () => {
    api.control.faults.failsStarts = 'the image has no command'
    const [entry] = (await create({ image: 'hello', autostart: true, wait_timeout_ms: 5_000 })).entries
    assert.ok(entry && 'message' in entry)
    assert.equal(entry.error, 10)
    assert.match(entry.message, /the image has no command/)
  })

  it('succeeds although workflows can not be reached, because the sweep starts them later', async () => {
    api.control.faults.isAway = true
    const created = await user.api.one('createInstances', { body: { image: 'hello', autostart: true } })
    assert.equal(created.state, 'starting')
    const [row] = await readRows<{ started: Date | null }>(api.database, {
      text: 'select workflow_started_at as started from instances where uuid = $1',
      values: [created.uuid],
    })
    assert.equal(row?.started, null)
  })

  it('answers the objects of an array in their order, some of them failed', async () => {
    const answer = await create([
      { image: 'hello', name: 'one' },
      { image: 'missing:latest', name: 'two' },
      { image: 'hello', name: 'one' },
      { image: 'hello', name: 'three' },
    ])
    assert.equal(answer.httpStatus, 200)
    assert.equal(answer.status, 'partial_success')
    assert.deepEqual(
      answer.entries.map((entry) => [entry.name, entry.status, 'error' in entry ? entry.error : undefined]),
      [
        ['one', 'success', undefined],
        ['two', 'error', 8],
        ['one', 'error', 23],
        ['three', 'success', undefined],
      ],
    )
  })

  it('tells since when no host answers, without the name of a host', async () => {
    const sql = (text: string) => readRows(api.database, { text })
    await sql("update nodes set heartbeat_at = '2026-01-02T03:04:05Z'")
    const failed = await create({ image: 'hello' })
    const made = await user.api.attempt('createVolumes', { body: { name: 'late', size_mb: 8 } })
    await sql('update nodes set heartbeat_at = now()')
    const message =
      'No host answers, and none has since 2026-01-02T03:04:05Z: nothing new can be placed now, try again later'
    for (const [entry] of [failed.entries, made.entries]) {
      assert.partialDeepStrictEqual(entry, { status: 'error', error: 10, message })
    }
  })

  it('does not show whether another user has an image', async () => {
    api.images.references.set(`${user.name}/own:latest`, {})
    const other = await api.addUser()
    await user.api.one('createInstances', { body: { image: `${user.name}/own` } })
    const theirs = await other.api.attempt('createInstances', { body: { image: `${user.name}/own` } })
    const nobodys = await other.api.attempt('createInstances', { body: { image: `${user.name}/none` } })
    const messages = [theirs, nobodys].map(
      ({ entries: [entry] }) => entry && 'message' in entry && entry.message,
    )
    const hint = '; /v1/images/list shows those there are'
    assert.deepEqual(messages, [`No image '${user.name}/own'${hint}`, `No image '${user.name}/none'${hint}`])
  })

  it('accepts a scale-to-zero policy that is off', async () => {
    await user.api.one('createInstances', { body: { image: 'hello', scale_to_zero: { policy: 'off' } } })
  })

  const invalid: readonly [string, object, RegExp][] = [
    [
      'an image that is an array',
      { image: ['hello'] },
      /^'image' in instance creation arguments has type 'array', but expected 'string'$/,
    ],
    [
      'an image that is an object without a reference',
      { image: {} },
      /^Missing 'image\.url' in instance creation arguments$/,
    ],
    [
      'too little memory',
      { image: 'hello', memory_mb: 1 },
      /^Value of 'memory_mb' must be in the range 16 to 8192$/,
    ],
    [
      'negative memory',
      { image: 'hello', memory_mb: -5 },
      /^Value of 'memory_mb' must be in the range 16 to/,
    ],
    [
      'a variable that is over what a process takes only in UTF-8',
      { image: 'hello', env: { TEXT: '€'.repeat(60_000) } },
      /^'variable TEXT' in instance creation arguments is too long: 180005 bytes, but at most 131071$/,
    ],
    ['too many virtual CPUs', { image: 'hello', vcpus: 2 }, /^Value of 'vcpus' must be 1$/],
    [
      'an unknown feature',
      { image: 'hello', features: ['smth'] },
      /^'smth' is not a valid flag for 'features'/,
    ],
    ['a bad name', { image: 'hello', name: '-x' }, /^Invalid name '-x': expected letters/],
    ['a malformed image', { image: 'a b' }, /^Invalid image 'a b'/],
    ['waiting without autostart', { image: 'hello', wait_timeout_ms: 5 }, /'wait_timeout_ms' .* 'autostart'/],
    ['a number in the environment', { image: 'hello', env: { A: 1 } }, /^'env.A' .* has type 'integer'/],
    [
      'a port that is none',
      { image: 'hello', service_group: { services: [{ port: 0 }] } },
      /^Value of 'port' in service port description must be in the range 1 to 65535$/,
    ],
    [
      'a policy that is missing',
      { image: 'hello', scale_to_zero: { stateful: true } },
      /^Missing 'scale_to_zero.policy'/,
    ],
  ]
  for (const [what, body, message] of invalid) {
    it(`is refused as a whole for ${what}`, async () => {
      const answer = await create(body)
      assert.equal(answer.httpStatus, 400)
      assert.match(answer.errors[0]?.message ?? '', message)
      assert.deepEqual(await user.api.call('listInstances'), [])
    })
  }

  it('keeps environments out of the log', async () => {
    await user.api.one('createInstances', {
      body: { image: 'hello', env: { PASSWORD: 'hunter-two-and-a-half' } },
    })
    assert.ok(api.logLines.some((line) => line.includes('createInstances')))
    assert.ok(!api.logLines.join('').includes('hunter-two-and-a-half'))
    assert.ok(!api.logLines.join('').includes(user.token))
  })
})
