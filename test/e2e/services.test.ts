import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ApiClient } from '../support/api-client.ts'
import { viewOf } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicAnswer, PublicNames } from '../support/public-names.ts'
import { linePort, publish, untilAsleep } from '../support/published-instance.ts'
import { publishSleepers } from '../support/published-service.ts'
import type { PublishedService } from '../support/published-service.ts'
import { asNewUser } from '../support/roost-command.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const attachedCode = 15
const takenCode = 23
const metroDomain = 'roost.localhost'

describe('services', function () {
  let stack: Stack
  let names: PublicNames
  let other: ApiClient
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    other = await asNewUser(stack, 'tenant')
  })
  after(async () => {
    await names?.close()
    await other?.close()
  })

  /** Opens a WebSocket, which counts as a request in flight until it is closed. */
  const hold = (host: string): Promise<WebSocket> => names.websocket(`wss://${host}/ws`)
  const json = { headers: { accept: 'application/json' } }
  const count = (host: string): Promise<PublicAnswer> => names.get(`https://${host}/count`, json)
  const awake = async (service: PublishedService): Promise<number> => {
    const views = await Promise.all(service.instances.map((uuid) => viewOf(stack.api, uuid)))
    return views.filter(({ state }) => state === 'running').length
  }
  const asleep = async ({ instances }: PublishedService): Promise<void> => {
    await Promise.all(instances.map((uuid) => untilAsleep(stack, uuid)))
  }

  describe('with three sleepers and a soft limit of 1', () => {
    let trio: PublishedService
    before(async () => {
      trio = await publishSleepers(stack, 'trio', { count: 3, softLimit: 1 })
    })

    it('wake one more for each request that the awake ones have no room for, and none too many', async () => {
      const held: WebSocket[] = []
      for (const expected of [1, 2, 3]) {
        held.push(await hold(trio.host))
        await until(`${expected} are awake`, async () => (await awake(trio)) === expected, {
          limitMs: 30_000,
        })
      }
      const beyond = await Promise.all(Array.from({ length: 6 }, () => count(trio.host)))
      assert.deepEqual(new Set(beyond.map(({ status }) => status)), new Set([200]))
      for (const socket of held) socket.close()
      await asleep(trio)
    })

    it('answer requests that come at once to all of them asleep', async () => {
      const slow = Array.from({ length: 3 }, () => names.get(`https://${trio.host}/slow?ms=1500`, json))
      const answers = await Promise.all(slow)
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
        answers.map(({ text }) => text).join(),
      )
      await asleep(trio)
    })

    it('lose no request to an instance that is deleted, from the moment of the answer', async () => {
      const held = [await hold(trio.host), await hold(trio.host)]
      await until('both are awake', async () => (await awake(trio)) === 2, { limitMs: 30_000 })
      const views = await Promise.all(trio.instances.map((uuid) => viewOf(stack.api, uuid)))
      const busy = views.filter(({ state }) => state === 'running').map(({ uuid }) => uuid)
      await stack.api.one('deleteInstances', { object: String(busy[0]) })
      const answers = await Promise.all(Array.from({ length: 20 }, () => count(trio.host)))
      for (const { status, text } of answers) assert.equal(status, 200, text)
      for (const socket of held) socket.close()
    })

    it('are deleted only without instances; then anybody may use their names', async () => {
      const refused = await stack.api.attempt('deleteServices', { object: trio.uuid })
      assert.partialDeepStrictEqual(refused.entries, [{ error: attachedCode }])
      const wanted = { services: [{ port: 443 }], domains: [{ name: 'trio' }] }
      const taken = await other.attempt('createServices', { body: wanted })
      assert.partialDeepStrictEqual(taken.entries, [{ error: takenCode }])
      const left = await stack.api.one('getServices', { object: trio.uuid })
      await stack.api.call('deleteInstances', { body: (left.instances ?? []).map(({ uuid }) => ({ uuid })) })
      await stack.api.one('deleteServices', { object: trio.uuid })
      const theirs = await other.one('createServices', { body: wanted })
      assert.equal(theirs.domains[0]?.fqdn, trio.host)
      await other.one('deleteServices', { object: theirs.uuid })
    })
  })

  describe('with one instance', () => {
    let single: PublishedService
    let metered: PublishedService
    before(async () => {
      const one = { count: 1 }
      ;[single, metered] = await Promise.all([
        publishSleepers(stack, 'single', { ...one, hardLimit: 1 }),
        publishSleepers(stack, 'metered', one),
      ])
    })
    after(async () => {
      for (const service of [single, metered]) {
        await stack.api.one('deleteInstances', { object: String(service.instances[0]) })
        await stack.api.one('deleteServices', { object: service.uuid })
      }
    })

    it('refuse requests beyond a hard limit of 1 at once, and say when to come again', async () => {
      const socket = await hold(single.host)
      const blocked = await count(single.host)
      assert.equal(blocked.status, 503, blocked.text)
      assert.match(String(blocked.headers['retry-after']), /^[1-9]\d*$/)
      const connection = await names.connect(single.host, linePort)
      await once(connection.resume(), 'close')
      const closed = once(socket, 'close')
      socket.close()
      await closed
      await until('there is room again', async () => (await count(single.host)).status === 200, {
        limitMs: 30_000,
      })
    })

    it('count requests, connections and their total in the metrics', async () => {
      const uuid = String(metered.instances[0])
      const metrics = () => stack.api.one('getInstanceMetrics', { object: uuid })
      const { ntotal: before } = await metrics()
      const socket = await hold(metered.host)
      const connection = await names.connect(metered.host, linePort)
      connection.write('a line\n')
      await once(connection, 'data')
      assert.partialDeepStrictEqual(await metrics(), { nreqs: 1, nconns: 1, nqueued: 0 })
      await count(metered.host)
      await count(metered.host)
      // A client may have its answer a moment before the gateway has counted it.
      await delay(100)
      assert.partialDeepStrictEqual(await metrics(), { nreqs: 1, ntotal: before + 2 })
      connection.destroy()
      socket.close()
      await until(
        'both are over',
        async () => {
          const { nreqs, nconns, ntotal } = await metrics()
          return nreqs === 0 && nconns === 0 && ntotal === before + 4
        },
        { limitMs: 30_000 },
      )
    })

    it('tell the latency of wakes to Prometheus', async () => {
      const ports = JSON.parse(readFileSync(path.join(stack.dataDir, 'ports.json'), 'utf8')) as {
        gateway: number
      }
      const wakes = async (): Promise<number> => {
        const text = await (await fetch(`http://127.0.0.1:${ports.gateway}/metrics`)).text()
        const counts = text.matchAll(/^roost_gateway_wake_duration_seconds_count\{kind="[a-z]+"\} (\d+)$/gm)
        return [...counts].reduce((sum, [, each]) => sum + Number(each), 0)
      }
      await asleep(metered)
      const before = await wakes()
      assert.equal((await count(metered.host)).status, 200)
      assert.equal(await wakes(), before + 1)
    })
  })

  it('that were made with an instance are deleted with it, and so are their names', async () => {
    const web = await publish(stack, 'implied', { autostart: false })
    const { service_group: group } = await viewOf(stack.api, web.uuid)
    await stack.api.one('deleteInstances', { object: web.uuid })
    const answer = await count(web.host)
    assert.equal(answer.status, 404)
    assert.match(answer.text, /There is no service on this URL\./)
    const gone = await stack.api.attempt('getServices', { object: String(group?.uuid) })
    assert.equal(gone.status, 'error')
  })

  it('with a custom domain wait for its certificate, and until then no handshake for it succeeds', async () => {
    const made = await stack.api.one('createServices', {
      body: { services: [{ port: 443 }], domains: [{ name: 'shop.example.com.' }, { name: 'shop' }] },
    })
    const [custom, metro] = made.domains
    assert.equal(custom?.fqdn, 'shop.example.com')
    assert.equal(custom.certificate?.state, 'pending')
    assert.equal(metro?.certificate, undefined)
    // Until the gateway has heard of the service, nobody serves the name, and the metro certificate is shown
    // for it.
    const refusal = async (): Promise<string> => {
      const error: NodeJS.ErrnoException = await names.connect('shop.example.com', 443).then(
        () => new Error('it was accepted'),
        (cause: Error) => cause,
      )
      return error.code ?? error.message
    }
    await until('it is refused with an alert', async () => (await refusal()).endsWith('UNRECOGNIZED_NAME'), {
      limitMs: 30_000,
    })
    const beside = await names.connect(`shop.${metroDomain}`, 443)
    beside.destroy()
    await stack.api.one('deleteServices', { object: made.uuid })
  })

  describe('of the platform', () => {
    const api = `https://api.${metroDomain}`

    it('offer the API under its public name, waits included', async () => {
      const headers = { authorization: `Bearer ${stack.token}` }
      assert.equal((await names.get(`${api}/v1/instances`)).status, 401)
      assert.equal((await names.get(`${api}/v1/instances`, { headers })).status, 200)
      const { uuid } = await stack.api.one('createInstances', { body: { name: 'awaited', image: 'busybox' } })
      const wait = `${api}/v1/instances/${uuid}/wait?state=running&timeout_ms=60000`
      const waiting = names.get(wait, { headers })
      await stack.api.one('startInstances', { object: uuid })
      const { status, text } = await waiting
      assert.equal(status, 200)
      assert.match(text, /"state":"running"/)
      await stack.api.one('deleteInstances', { object: uuid })
    })

    it('keep what parts say to each other, and metrics, from the public', async () => {
      const hidden = ['/internal/gateway/routes', '/internal/nodes/local/instances', '/metrics', '//metrics']
      const dressed = [
        '/INTERNAL/gateway/routes',
        '/v1/../metrics',
        '/%6detrics',
        '/internal%2fgateway/routes',
      ]
      const token = readFileSync(path.join(stack.dataDir, 'keys', 'gateway-token'), 'utf8').trim()
      const headers = { authorization: `Bearer ${token}` }
      for (const place of [...hidden, ...dressed]) {
        const { status, text } = await names.get(`${api}${place}`, { headers })
        assert.ok([400, 401, 404].includes(status), `${place}: ${status} ${text.slice(0, 200)}`)
      }
    })
  })
})
