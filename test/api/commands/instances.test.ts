import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { InstanceState } from '../../../src/domain/instance/state.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { startLogHost } from '../../support/log-host.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'
import { settledEvents } from '../../support/settled-events.ts'
import { until } from '../../support/until.ts'

const inTime = { limitMs: 20_000 }

describe('commands about instances', () => {
  let api: TestApi
  let user: TestUser
  let roost: RoostProgram
  before(async () => {
    api = await startTestApi()
    // Hosts bring first boots up at once.
    api.nodes.firstBootUs = 20_000
  })
  beforeEach(async () => {
    user = await api.addUser()
    roost = await createRoostProgram({ url: api.url, token: user.token })
  })
  afterEach(() => roost.remove())
  after(() => api.close())

  it('run creates what its options say, and waits until it runs', async () => {
    await user.api.one('createVolumes', { body: { name: 'notes', size_mb: 64 } })
    const args = ['--name', 'web', '-p', '443:8080', '--domain', 'web', '-m', '256M', '-e', 'A=1', '-e', 'B']
    const more = ['-v', 'notes:/data:ro', '--scale-to-zero', '--restart', 'always']
    const run = await roost.run(['run', ...args, ...more, 'hello', '--', '/hello', '--port'], {
      env: { B: 'two' },
    })
    assert.equal(run.code, 0, run.err)
    assert.match(
      run.out,
      /^web is running, booted in \d+ ms; its private address is 10\..*\nhttps:\/\/web\.metro\.test\n$/,
    )
    const instance = await user.api.one('getInstances', { object: 'web' })
    assert.deepEqual(instance.env, { A: '1', B: 'two' })
    assert.deepEqual(instance.args, ['/hello', '--port'])
    assert.deepEqual([instance.memory_mb, instance.restart_policy], [256, 'always'])
    assert.deepEqual([instance.scale_to_zero?.policy, instance.scale_to_zero?.stateful], ['on', false])
    assert.deepEqual([instance.volumes?.[0]?.at, instance.volumes?.[0]?.readonly], ['/data', true])
  })

  it('set changes what its options say, and says what waits for a restart', async () => {
    const body = { name: 'web', image: 'hello', env: { A: '1', OLD: 'x' }, autostart: true }
    await user.api.one('createInstances', { body })
    const args = [
      '-m',
      '256M',
      '-e',
      'B',
      '--unset',
      'OLD',
      '--restart',
      'always',
      '--tag',
      'blue',
      '--cooldown',
      '50',
    ]
    const set = await roost.run(['set', 'web', ...args, '--', '--fast'], { env: { B: 'two' } })
    assert.equal(set.code, 0, set.err)
    assert.equal(
      set.out,
      'web: args, env, memory_mb, restart_policy, scale_to_zero, tags changed\n' +
        'args, env, memory_mb wait for a restart: roost set web --now\n',
    )
    const instance = await user.api.one('getInstances', { object: 'web' })
    assert.deepEqual(
      [instance.env, instance.args, instance.tags],
      [{ A: '1', B: 'two' }, ['--fast'], ['blue']],
    )
    assert.deepEqual([instance.memory_mb, instance.restart_policy], [256, 'always'])
    const now = await roost.run(['set', 'web', '--now', '--drain', '100'])
    assert.equal(now.out, 'web: nothing of it is other than before; it restarted\n', now.err)
  })

  it('set says before and after that a restart drops the memory of what sleeps', async () => {
    const { uuid } = await user.api.one('createInstances', {
      body: { name: 'web', image: 'hello', autostart: true },
    })
    const sleep = async () =>
      await api.control.record(uuid, { state: InstanceState.Standby, boot: 1, snapshotUuid: uuid })
    await sleep()
    const set = await roost.run(['set', 'web', '-m', '256M'])
    assert.match(set.out, /web sleeps with its memory, .* With --now, that memory is dropped/)
    await sleep()
    const now = await roost.run(['set', 'web', '--now'])
    assert.match(now.out, /the memory that it had kept is dropped, and the next wake has the changes/)
  })

  it('set refuses what changes nothing, and what is no change', async () => {
    for (const [args, message] of [
      [[], /nothing to change was named/],
      [['--drain', '5'], /--drain is for a restart/],
      [['-m', 'much'], /'much' is no size/],
    ] as const) {
      const run = await roost.run(['set', 'web', ...args])
      assert.equal(run.code, 2, run.err)
      assert.match(run.err, message)
    }
    assert.equal((await roost.run(['set', 'nobody', '-m', '256M'])).code, 3)
  })

  it('run says what is wrong with an argument before anything is made', async () => {
    for (const [args, message] of [
      [['-p', 'http'], /'http' is no port: .*443:8080/],
      [['-m', 'much'], /'much' is no size/],
      [['-v', 'notes'], /'notes' is no attachment/],
      [['--scale-to-zero=always'], /'always' is no value for --scale-to-zero/],
      [['--cooldown', '500'], /--cooldown is for an instance that sleeps: give --scale-to-zero, too/],
    ] as const) {
      const run = await roost.run(['run', 'hello', ...args])
      assert.equal(run.code, 2, run.err)
      assert.match(run.err, message)
    }
    assert.deepEqual(await user.api.call('getInstances'), [])
  })

  it('run tells what the API refuses, and what to do where there is something', async () => {
    const run = await roost.run(['run', 'nothing-like-it'])
    assert.equal(run.code, 3)
    assert.match(run.err, /^roost: .*nothing-like-it/)
  })

  it('ps fits every line into the terminal, and cuts none where there is none', async () => {
    const name = `a-${'very-'.repeat(9)}long-name`
    await user.api.one('createInstances', { body: { name, image: 'hello' } })
    for (const columns of [60, 80, 100, 200]) {
      const { out } = await roost.run(['ps'], { env: { COLUMNS: String(columns) } })
      const lines = out.trimEnd().split('\n')
      assert.equal(lines.length, 2)
      for (const line of lines) assert.ok(line.length <= columns, `${line.length} of ${columns}: ${line}`)
    }
    assert.ok((await roost.run(['ps'])).out.includes(name))
  })

  it('ps and inspect write the entries of the API as JSON', async () => {
    const { uuid } = await user.api.one('createInstances', { body: { name: 'one', image: 'hello' } })
    const ps = JSON.parse((await roost.run(['ps', '-o', 'json'])).out)
    assert.deepEqual([ps.length, ps[0].uuid], [1, uuid])
    assert.equal(JSON.parse((await roost.run(['inspect', uuid, '-o', 'json'])).out).name, 'one')
  })

  it('stop, start and rm tell of each instance, and fail if one of them does', async () => {
    await user.api.one('createInstances', { body: { name: 'one', image: 'hello' } })
    const start = await roost.run(['start', '--no-wait', 'one'])
    assert.deepEqual([start.code, start.out], [0, 'one is running\n'], start.err)
    const stop = await roost.run(['stop', 'one', 'two'])
    assert.equal(stop.code, 3)
    assert.match(stop.out, /^one is /)
    assert.match(stop.err, /No instance with name 'two'/)
    const rm = await roost.run(['rm', 'one'])
    assert.deepEqual([rm.code, rm.out], [0, 'one is deleted\n'])
  })

  it('stop takes no longer drain than the API', async () => {
    await user.api.one('createInstances', { body: { name: 'one', image: 'hello', autostart: true } })
    const long = await roost.run(['stop', 'one', '--drain', '3600001'])
    assert.equal(long.code, 2)
    assert.match(long.err, /no value for --drain: expected a whole number from 0 to 3600000\n/)
    const stop = await roost.run(['stop', 'one', '--drain', '3600000'])
    assert.equal(stop.code, 0, stop.err)
  })

  it('suspend waits until each sleeps, and says why one does not', async () => {
    for (const name of ['one', 'down'])
      await user.api.one('createInstances', { body: { name, image: 'hello' } })
    // It was not brought up by the host, which would say that it is awake.
    await user.api.one('startInstances', { object: 'one' })
    api.control.faults.failsSuspends = 'it was not suspended: its disk is full'
    const failed = await roost.run(['suspend', 'one'])
    assert.deepEqual([failed.code, failed.err], [1, 'roost: one: it was not suspended: its disk is full\n'])
    delete api.control.faults.failsSuspends
    api.control.calls.length = 0
    const suspend = await roost.run(['suspend', 'one', 'down', '--drain', '500'])
    assert.deepEqual([suspend.code, suspend.out], [1, 'one was suspended\n'], suspend.err)
    assert.match(suspend.err, /'down' is stopped: only an instance that runs can be suspended/)
    assert.ok(api.control.calls.includes('suspend within 500 ms'))
    const again = await roost.run(['suspend', '--no-wait', 'one'])
    assert.deepEqual([again.code, again.out], [0, 'one is standby\n'])
    assert.equal((await roost.run(['suspend', 'one', '--drain', '10001'])).code, 2)
  })

  it('logs writes the bytes that the instance printed', async () => {
    const { uuid } = await user.api.one('createInstances', { body: { name: 'one', image: 'hello' } })
    const text = 'first\nsecond ☃\n'
    const bytes = Buffer.from(text)
    const outputBase64 = bytes.toString('base64')
    const range = { availableStart: 0, availableEnd: bytes.length, rangeStart: 0, rangeEnd: bytes.length }
    api.nodes.logs.set(uuid, { ...range, outputBase64 })
    assert.equal((await roost.run(['logs', 'one'])).out, text)
    assert.equal(JSON.parse((await roost.run(['logs', 'one', '-o', 'json'])).out).output, text)
  })

  it('logs -f goes on with what the instance prints, until it is stopped or deleted', async () => {
    const { uuid } = await user.api.one('createInstances', { body: { name: 'one', image: 'hello' } })
    const setState = (state: InstanceState) => api.control.record(uuid, { state })
    const { readLog } = api.nodes
    const host = await startLogHost(api)
    try {
      await setState(InstanceState.Running)
      await host.print(uuid, 'first\n')
      const following = roost.start(['logs', '-f', 'one'])
      await until('the past is shown', async () => following.out() === 'first\n', inTime)
      await host.print(uuid, 'second ☃\n')
      await until('the present is shown', async () => following.out() === 'first\nsecond ☃\n', inTime)
      await host.print(uuid, 'last\n')
      await setState(InstanceState.Stopped)
      const ended = await following.ended
      assert.deepEqual([ended.code, ended.out, ended.err], [0, 'first\nsecond ☃\nlast\n', ''])
      // An instance that is stopped already has nothing to follow.
      assert.equal((await roost.run(['logs', '-f', 'one'])).out, ended.out)
      await setState(InstanceState.Running)
      const other = roost.start(['logs', '-f', 'one'])
      await until('the past is shown', async () => other.out() === ended.out, inTime)
      await user.api.one('deleteInstances', { object: 'one' })
      const { code, err } = await other.ended
      assert.deepEqual([code, err], [0, "roost: instance 'one' is deleted, and its log with it\n"])
      const unknown = await roost.run(['logs', '-f', 'one'])
      assert.equal(unknown.code, 1)
      assert.match(unknown.err, /^roost: .*'one'/)
    } finally {
      api.nodes.readLog = readLog
      await host.close()
    }
  })

  it('events lists what happened, and follows it until Ctrl-C', async () => {
    await user.api.one('createInstances', { body: { name: 'one', image: 'hello' } })
    await settledEvents(api.database)
    const listed = await roost.run(['events', '--object', 'one', '-o', 'json'])
    assert.equal(JSON.parse(listed.out)[0].object.name, 'one')
    const following = roost.start(['events', '-f'])
    await until('the past is shown', async () => following.out().includes('one'), inTime)
    await user.api.one('createVolumes', { body: { name: 'later', size_mb: 64 } })
    await until('the present is shown', async () => following.out().includes('later'), inTime)
    following.child.kill('SIGINT')
    const [code] = (await once(following.child, 'exit')) as [number]
    assert.equal(code, 0)
  })

  it('events follows an object of which nothing has happened yet', async () => {
    await user.api.one('createInstances', { body: { name: 'one', image: 'hello' } })
    const following = roost.start(['events', '-f', '--object', 'late'])
    for (let made = 0; !following.out().includes('late') && made < 40; made++) {
      const { uuid } = await user.api.one('createVolumes', { body: { name: 'late', size_mb: 64 } })
      await user.api.one('deleteVolumes', { body: { uuid } })
      await setTimeout(250)
    }
    assert.match(following.out(), /^\S+ {2}volume\.created {2}late /)
    assert.doesNotMatch(following.out(), / one /)
    following.child.kill('SIGINT')
    assert.deepEqual(await once(following.child, 'exit'), [0, null])
  })

  it('usage shows what an instance, or a service, used step by step', async () => {
    const { uuid, service_group: service } = await user.api.one('createInstances', {
      body: { name: 'one', image: 'hello', service_group: { services: [{ port: 443 }] } },
    })
    const nowMs = Math.floor(Date.now() / 300_000) * 300_000
    const counters = { rxBytes: 614_400, rxPackets: 1, txBytes: 0, txPackets: 0, handled: 600, wakes: 2 }
    const used = { ...counters, cpuTimeMs: 30_000, rssBytes: 52_428_800, inFlightMs: 0 }
    api.nodes.histories.set(uuid, [{ ...used, atMs: nowMs, seenMs: 150_000 }])
    api.nodes.histories.set(`local ${service?.uuid}`, [{ ...used, atMs: nowMs, seenMs: 600_000 }])
    const line = (ran: string) =>
      new RegExp(
        `^TIME +RAN +CPU +MEMORY +RECEIVED +SENT +REQS +WAKES\n\\S+ +${ran} +10\\.0 % +50 MiB +2 KiB/s +0 KiB/s +2\\.0/s +2\n$`,
      )
    assert.match((await roost.run(['usage', 'one', '--step', '5m'])).out, line('0\\.5'))
    const ofService = await roost.run(['service', 'usage', String(service?.name), '--step', '5m', '-n', '1'])
    assert.match(ofService.out, line('2\\.0'))
    const wrong = await roost.run(['usage', 'one', '--step', '1h'])
    assert.deepEqual([wrong.code, wrong.out], [2, ''])
    assert.match(wrong.err, /'1h' is no length of a step: it is 5s or 5m/)
  })

  it('top shows what instances use, once if nobody looks', async () => {
    await user.api.one('createInstances', { body: { name: 'one', image: 'hello' } })
    const { code, out } = await roost.run(['top'])
    assert.equal(code, 0)
    assert.match(out, /^NAME +STATE +CPU /)
    assert.match(out, /\none +stopped /)
  })
})
