import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { onFailure } from '../support/failure-notes.ts'
import { openHostPair } from '../support/host-pair.ts'
import type { HostName, HostPair } from '../support/host-pair.ts'
import { inTime } from '../support/in-time.ts'
import { logOf, runInstance, viewOf, waitFor } from '../support/instances.ts'
import { LaneTraffic, assertNoneLost } from '../support/lane-traffic.ts'
import { linePort, publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000
const perSecond = 20
/** How much of the machines' output is shown with a failure. */
const maxShown = 6_000

describe('an instance that moves', function () {
  let pair: HostPair
  let counter: Published

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    pair = await openHostPair()
    counter = await publish(pair.stack, 'counter', { image: 'counter' })
  })
  after(async () => await pair?.remove())
  onFailure(() =>
    pair === undefined
      ? ''
      : [pair.stack, pair.machines.h2, pair.machines.h3]
          .map((part) => `--- said last:\n${part.output().slice(-maxShown)}\n`)
          .join(''),
  )

  const otherThan = (host: HostName): HostName => (host === 'h2' ? 'h3' : 'h2')

  async function roost(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await pair.roost.run(args)
    assert.equal(code, 0, `${args.join(' ')}: ${err}`)
    return out
  }

  /** Moves it to the other host, verifies where it is, and returns that host. */
  async function move({ uuid, name }: { readonly uuid: string; readonly name: string }): Promise<HostName> {
    const from = await pair.hostOf(uuid)
    const to = otherThan(from)
    assert.match(await roost('instance', 'move', name, to), new RegExp(`${name} is on ${to}`))
    assert.equal(await pair.hostOf(uuid), to)
    const left = path.join(pair.machines[from].dataDir, 'agent', 'instances', uuid)
    await until('the old host keeps nothing of it', () => !existsSync(left), { limitMs })
    return to
  }

  const count = async (): Promise<number> =>
    Number((await pair.names.get(`https://${counter.host}/count`)).text)

  it('goes on with its memory and its address on the other host, and no request is lost', async () => {
    const { names, stack } = pair
    const before = await viewOf(stack.api, counter.uuid)
    const socket = await names.websocket(`wss://${counter.host}/ws`)
    const line = await names.connect(counter.host, linePort)
    const slow = names.get(`https://${counter.host}/slow?ms=2500`)
    const traffic = new LaneTraffic(names, { ...counter, path: '/count' }, perSecond)
    await traffic.next(perSecond)
    await move(counter)
    await traffic.next(2 * perSecond)
    await traffic.end()
    assertNoneLost([traffic], 'while it moved')
    const counts = traffic.answers.map(Number)
    assert.ok(counts.length > 3 * perSecond - 1)
    assert.equal(new Set(counts).size, counts.length, 'no request was counted twice')
    assert.equal(Math.max(...counts) - Math.min(...counts) + 1 >= counts.length, true)
    assert.equal((await slow).status, 200, 'a request that was in flight is answered')
    const answered = once(socket, 'message') as Promise<[MessageEvent]>
    socket.send('still open')
    const [message] = await inTime('the WebSocket that was open answers', answered)
    assert.match(String(message.data), /^\d+ still open$/)
    line.write('still open\n')
    const [words] = await inTime('the connection that was open answers', once(line, 'data'))
    assert.match(String(words), /^\d+ still open\n$/)
    socket.close()
    line.destroy()
    const after = await viewOf(stack.api, counter.uuid)
    assert.equal(after.private_ip, before.private_ip)
    assert.equal(after.start_count, (before.start_count ?? 0) + 1)
    assert.ok((await count()) > Math.max(...counts), 'the memory counts on')
  })

  it('comes back in the same way', async () => {
    const before = await count()
    await move(counter)
    assert.equal(await count(), before + 1)
  })

  it('is not woken if it sleeps, and wakes with its memory on the other host', async () => {
    const { stack } = pair
    const sleeper = await publish(stack, 'sleeper', {
      image: 'counter',
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful: true },
    })
    const ask = async () => Number((await pair.names.get(`https://${sleeper.host}/count`)).text)
    assert.equal(await ask(), 1)
    const asleep = await untilAsleep(stack, sleeper.uuid)
    await move(sleeper)
    const moved = await viewOf(stack.api, sleeper.uuid)
    assert.equal(moved.state, 'standby')
    assert.equal(moved.start_count, asleep.start_count, 'it was not woken')
    assert.equal(await ask(), 2)
    await untilAsleep(stack, sleeper.uuid)
    await stack.api.one('deleteInstances', { object: sleeper.uuid })
  })

  it('stays stopped if it is stopped, and has its log on the other host', async () => {
    const { stack } = pair
    const { uuid } = await runInstance(stack.api, {
      name: 'speaker',
      image: 'busybox',
      args: ['echo', 'once'],
    })
    await waitFor(stack.api, uuid, 'stopped')
    const before = await logOf(stack.api, uuid)
    assert.match(before, /once/)
    await move({ uuid, name: 'speaker' })
    assert.equal((await viewOf(stack.api, uuid)).state, 'stopped')
    assert.ok((await logOf(stack.api, uuid)).startsWith(before))
    await stack.api.one('startInstances', { object: uuid })
    await until('it has spoken again', async () => (await logOf(stack.api, uuid)).split('once').length > 2, {
      limitMs,
    })
    await stack.api.one('deleteInstances', { object: uuid })
  })

  it('reaches its peers and is reached by them under the address that it had, and names go on', async () => {
    const { stack, hostOf } = pair
    const args = ['sh', '-c', 'while true; do nc -l -p 7 -e cat; done']
    const ends = await Promise.all(
      ['left', 'right'].map(async (name) => await runInstance(stack.api, { name, image: 'busybox', args })),
    )
    const [left, right] = ends as [(typeof ends)[0], (typeof ends)[0]]
    const reaches = async (from: string, to: string) =>
      (await roost('exec', from, '--', 'sh', '-c', `echo hello | nc -w 10 ${to} 7`)) === 'hello\n'
    const both = async () => {
      const ways = [
        ['left', 'right.internal'],
        ['right', 'left.internal'],
        ['left', String(right.private_ip)],
        ['right', String(left.private_ip)],
      ] as const
      for (const [from, to] of ways) {
        const seen = async () => await reaches(from, to).catch(() => false)
        await until(`${from} reaches ${to}`, seen, { limitMs: 20_000 })
      }
    }
    await both()
    await move(left)
    assert.equal((await viewOf(stack.api, left.uuid)).private_ip, left.private_ip)
    await both()
    await move(right)
    await both()
    // Now both are on one host, whatever hosts they had at first, or on two again.
    await move(left)
    await both()
    assert.ok((await hostOf(left.uuid)) !== undefined)
    for (const { uuid } of ends) await stack.api.one('deleteInstances', { object: uuid })
  })

  it('takes its volume along, with what was written and not synced yet, and the old copy is gone', async () => {
    const { stack } = pair
    const begins =
      'echo begun >> /data/begun; i=0; while :; do i=$((i+1)); echo $i >> /data/count; sleep 0.1; done'
    const keeper = await runInstance(stack.api, {
      name: 'keeper',
      image: 'busybox',
      args: ['sh', '-c', begins],
      volumes: [{ size_mb: 64, at: '/data' }],
    })
    const read = async (file: string) =>
      (await roost('exec', 'keeper', '--', 'sh', '-c', `touch /data/${file}; cat /data/${file}`))
        .trim()
        .split('\n')
    await until('it has counted', async () => (await read('count')).length > 10, { limitMs })
    const from = await pair.hostOf(keeper.uuid)
    const before = await read('count')
    const to = await move({ uuid: keeper.uuid, name: 'keeper' })
    assert.match(pair.machines[to].output(), /a volume that was copied while its VM ran is whole/)
    assert.doesNotMatch(pair.machines[to].output(), /a volume was fetched/, 'it was away only for the rest')
    const counted = await until(
      'it counts on',
      async () => {
        const all = await read('count')
        return all.length > before.length + 20 ? all : undefined
      },
      { limitMs },
    )
    assert.deepEqual(
      counted,
      counted.map((_, index) => String(index + 1)),
    )
    assert.deepEqual(await read('begun'), ['begun'], 'its memory went with it')
    const left = path.join(pair.machines[from].dataDir, 'agent', 'volumes')
    await until('the old host has nothing of it', () => readdirSync(left).length === 0, { limitMs })
    await stack.api.one('stopInstances', { object: keeper.uuid })
    await waitFor(stack.api, keeper.uuid, 'stopped')
    await move({ uuid: keeper.uuid, name: 'keeper' })
    await stack.api.one('startInstances', { object: keeper.uuid })
    await waitFor(stack.api, keeper.uuid, 'running')
    const begunTwice = async () => (await read('begun')).length === 2
    await until('it has begun a second time, with the same volume', begunTwice, { limitMs })
    assert.ok((await read('count')).length > counted.length)
    await stack.api.one('deleteInstances', { object: keeper.uuid })
    const host = pair.machines[from].dataDir
    const volumes = path.join(host, 'agent', 'volumes')
    await until('it is deleted where it is', () => readdirSync(volumes).length === 0, { limitMs })
  })

  it('stays where it is, with a reason, if the other host takes nothing new', async () => {
    const { stack, hostOf } = pair
    const host = await hostOf(counter.uuid)
    const to = otherThan(host)
    await stack.api.one('cordonHosts', { object: to })
    const refused = await pair.roost.run(['instance', 'move', 'counter', to])
    assert.equal(refused.code, 1)
    assert.match(refused.err, /cordoned/)
    await stack.api.one('uncordonHosts', { object: to })
    assert.equal(await hostOf(counter.uuid), host)
  })

  it('moves away with all others when its host is emptied, also those with a volume', async () => {
    const { stack, hostOf } = pair
    const host = await hostOf(counter.uuid)
    await stack.api.one('cordonHosts', { object: otherThan(host) })
    const sleeper = await publish(stack, 'drowsy', {
      image: 'counter',
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful: true },
    })
    const fixed = await runInstance(stack.api, {
      name: 'fixed',
      image: 'busybox',
      args: ['sleep', '1000'],
      volumes: [{ size_mb: 16, at: '/data' }],
    })
    await stack.api.one('uncordonHosts', { object: otherThan(host) })
    await untilAsleep(stack, sleeper.uuid)
    const traffic = new LaneTraffic(pair.names, { ...counter, path: '/count' }, perSecond)
    await traffic.next(perSecond)
    // An instance that was too busy to sleep is asked again after a minute.
    const drain = await pair.roost.run(['host', 'drain', host], { limitMs: 3 * limitMs })
    assert.equal(drain.out, `${host} is empty, and stays cordoned\n`, drain.err)
    await traffic.next(perSecond)
    await traffic.end()
    assertNoneLost([traffic], 'while its host was emptied')
    assert.equal(await hostOf(counter.uuid), otherThan(host))
    assert.equal(await hostOf(sleeper.uuid), otherThan(host))
    assert.equal((await viewOf(stack.api, sleeper.uuid)).state, 'standby')
    assert.equal(await hostOf(fixed.uuid), otherThan(host))
    await stack.api.one('deleteInstances', { object: fixed.uuid })
    const drained = async () => (await stack.api.one('getHosts', { object: host })).drain === undefined
    await until('the drain is over', drained, { limitMs })
    assert.ok((await stack.api.one('getHosts', { object: host })).cordoned_at, 'it stays cordoned')
    await roost('host', 'uncordon', host)
    await stack.api.one('deleteInstances', { object: sleeper.uuid })
  })
})
