import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TLSSocket } from 'node:tls'
import { setTimeout as delay } from 'node:timers/promises'
import { logOf, viewOf, waitFor } from '../support/instances.ts'
import type { InstanceView } from '../support/instances.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { linePort, publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0

describe('scale-to-zero', function () {
  let stack: Stack
  let names: PublicNames
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
  })
  after(() => names?.close())

  const count = async ({ host }: Published): Promise<number> => {
    const answer = await names.get(`https://${host}/count`)
    assert.equal(answer.status, 200, answer.text)
    return Number(answer.text)
  }

  describe('of an instance that is shut down for it', () => {
    let web: Published
    before(async () => {
      web = await publish(stack, 'cold', { scale_to_zero: { policy: 'on', cooldown_time_ms: 500 } })
    })
    after(() => stack.api.one('deleteInstances', { object: web.uuid }))

    it('answers while it runs, and sleeps after its cooldown with stop reason 7', async () => {
      assert.equal(await count(web), 1)
      const asleep = await untilAsleep(stack, web.uuid)
      assert.equal(asleep.stop_reason, 7)
      assert.equal(asleep.exit_code, 0)
      assert.equal(asleep.snapshot, undefined)
      assert.deepEqual(asleep.scale_to_zero, {
        enabled: true,
        policy: 'on',
        cooldown_time_ms: 500,
        stateful: false,
      })
    })

    it('is woken by a request, which is answered by a fresh application', async () => {
      const before = await viewOf(stack.api, web.uuid)
      assert.equal(await count(web), 1)
      const { start_count } = await untilStarted(web, before.start_count)
      assert.equal(start_count, before.start_count! + 1)
      await until('both requests are counted', async () => (await viewOf(stack.api, web.uuid)).ntotal === 2, {
        limitMs: 30_000,
      })
    })

    it('is woken once by 200 requests at once, all of which are answered', async () => {
      const { start_count: before = 0 } = await untilAsleep(stack, web.uuid)
      const machines: number[] = []
      const answers = await Promise.all(
        Array.from({ length: 200 }, async (_, index) => {
          const answer = await count(web)
          if (index % 20 === 0) machines.push(virtualMachinesOf(web.uuid).length)
          return answer
        }),
      )
      assert.deepEqual(
        answers.toSorted((a, b) => a - b),
        Array.from({ length: 200 }, (_, index) => index + 1),
      )
      assert.equal(Math.max(...machines), 1)
      assert.equal((await untilStarted(web, before)).start_count, before + 1)
    })

    it('does not sleep while a request is in flight, however long that takes', async () => {
      const { start_count: before = 0 } = await untilAsleep(stack, web.uuid)
      const askedAtMs = Date.now()
      const answer = await names.get(`https://${web.host}/slow?ms=4000`)
      assert.equal(answer.status, 200)
      await untilStarted(web, before)
      const again = await untilAsleep(stack, web.uuid)
      assert.equal(again.start_count, before + 1)
      const sleptAfterMs = Date.parse(again.stopped_at ?? '') - askedAtMs
      assert.ok(sleptAfterMs >= 3_900, `it slept ${sleptAfterMs} ms after a request that takes 4 s`)
    })

    it('is started by hand like a stopped one, and a stop by hand keeps it from waking', async () => {
      await untilAsleep(stack, web.uuid)
      const started = await stack.api.one('startInstances', {
        object: web.uuid,
        body: { wait_timeout_ms: 60_000 },
      })
      assert.equal(started.previous_state, 'standby')
      await untilAsleep(stack, web.uuid)
      await stack.api.one('stopInstances', { object: web.uuid })
      await waitFor(stack.api, web.uuid, 'stopped')
      const answer = await names.get(`https://${web.host}/count`, { headers: { accept: 'application/json' } })
      assert.equal(answer.status, 404)
      assert.match(answer.text, /There is no service on this URL\./)
      assert.deepEqual(virtualMachinesOf(web.uuid), [])
    })
  })

  describe('of an instance whose waking request is answered', () => {
    let web: Published
    before(async () => {
      web = await publish(stack, 'read', {
        scale_to_zero: { policy: 'on', cooldown_time_ms: 500, stateful: true },
      })
    })
    after(() => stack.api.one('deleteInstances', { object: web.uuid }))

    it('is shown as running by every read that follows', async () => {
      for (let wake = 0; wake < 8; wake++) {
        const { start_count: before = 0 } = await untilAsleep(stack, web.uuid)
        await count(web)
        const [view, all, asleep, waited] = await Promise.all([
          viewOf(stack.api, web.uuid),
          stack.api.call('getInstances'),
          stack.api.call('listInstances', { body: [{ state: 'standby' }] }),
          stack.api.attempt('waitInstances', { body: [{ uuid: web.uuid, state: 'standby', timeout_ms: 1 }] }),
        ])
        assert.deepEqual([view.state, view.start_count], ['running', before + 1])
        assert.equal(all.find(({ uuid }) => uuid === web.uuid)?.state, 'running')
        assert.ok(!asleep.some(({ uuid }) => uuid === web.uuid))
        assert.equal(waited.status, 'error')
      }
    })
  })

  describe('of an instance that keeps its memory', () => {
    let web: Published
    before(async () => {
      web = await publish(stack, 'kept', {
        autostart: false,
        scale_to_zero: { policy: 'idle', cooldown_time_ms: 500, stateful: true },
      })
    })
    after(() => stack.api.one('deleteInstances', { object: web.uuid }))

    it('is in standby from its creation without autostart, and starts with the first request', async () => {
      assert.equal((await viewOf(stack.api, web.uuid)).state, 'standby')
      assert.equal(await count(web), 1)
    })

    it('goes on where it was, as often as it sleeps', async () => {
      for (const expected of [2, 3, 4]) {
        const asleep = await untilAsleep(stack, web.uuid)
        assert.match(asleep.snapshot?.uuid ?? '', /^[0-9a-f-]{36}$/)
        assert.equal(asleep.stop_reason, 4)
        assert.equal(await count(web), expected)
      }
      // The instance stays awake as long as a request is in flight.
      const slow = names.get(`https://${web.host}/slow?ms=6000`)
      const awake = await waitFor(stack.api, web.uuid, 'running')
      assert.equal(awake.snapshot, undefined)
      await slow
    })

    it('sleeps through an open TCP connection, whose next line wakes it and is answered', async () => {
      const connection = await names.connect(web.host, linePort)
      const lines = linesOf(connection)
      connection.write('one\n')
      const first = await lines.next()
      for (const word of ['two', 'three']) {
        await untilAsleep(stack, web.uuid)
        connection.write(`${word}\n`)
        assert.match(await lines.next(), new RegExp(`^\\d+ ${word}$`))
      }
      assert.match(first, /^\d+ one$/)
      connection.destroy()
    })

    it('does not sleep while a WebSocket is open, and sleeps when it is closed', async () => {
      const socket = await websocketTo(web)
      socket.send('hello')
      const [message] = (await once(socket, 'message')) as [MessageEvent]
      assert.match(String(message.data), /^\d+ hello$/)
      await delay(3_000)
      assert.equal((await viewOf(stack.api, web.uuid)).state, 'running')
      socket.close()
      await untilAsleep(stack, web.uuid)
    })

    it('has the right time after a sleep', async () => {
      await untilAsleep(stack, web.uuid)
      await delay(3_000)
      const askedMs = Date.now()
      const { text } = await names.get(`https://${web.host}/time`)
      const [earlyMs, lateMs] = [askedMs - Number(text), Number(text) - Date.now()]
      assert.ok(earlyMs < 1_500 && lateMs < 1_500, `early by ${earlyMs}, late by ${lateMs} ms`)
    })
  })

  describe('that an instance blocks', () => {
    it('waits until its pseudo file says zero again', async () => {
      const file = '$ROOST_SCALE_TO_ZERO_FILE'
      const script = `echo +2 > ${file}; cat ${file}; sleep 6; echo =0 > ${file}; echo released; sleep 600`
      const created = await stack.api.one('createInstances', {
        body: {
          name: 'speaks',
          image: 'busybox',
          args: ['sh', '-c', `trap 'exit 0' TERM; nc -ll -p 80 -e cat & ${script} & wait`],
          autostart: true,
          wait_timeout_ms: 60_000,
          scale_to_zero: { policy: 'on', cooldown_time_ms: 300 },
        },
      })
      await until(
        'it is shown',
        async () => (await viewOf(stack.api, created.uuid)).scale_to_zero?.enabled === false,
        { limitMs: 30_000 },
      )
      assert.equal((await viewOf(stack.api, created.uuid)).state, 'running')
      // The count is shown before the script has printed it.
      const printed = async () => /^=2$/m.test(await logOf(stack.api, created.uuid))
      await until('the count is printed', printed, { limitMs: 5_000 })
      const asleep = await untilAsleep(stack, created.uuid)
      assert.match(await logOf(stack.api, created.uuid), /^released$/m)
      assert.equal(asleep.scale_to_zero?.enabled, true)
      await stack.api.one('deleteInstances', { object: created.uuid })
    })
  })

  describe('and draining', () => {
    it('lets a request in flight finish, and ends a WebSocket with a close frame when the time is over', async () => {
      const web = await publish(stack, 'drained')
      const socket = await names.websocket(`wss://${web.host}/ws`)
      const closed = once(socket, 'close') as Promise<[CloseEvent]>
      const slow = names.get(`https://${web.host}/slow?ms=3000`)
      await until('both are there', async () => ((await viewOf(stack.api, web.uuid)).nreqs ?? 0) >= 2, {
        limitMs: 30_000,
      })
      const stopping = await stack.api.one('stopInstances', {
        object: web.uuid,
        body: { drain_timeout_ms: 4_000 },
      })
      assert.equal(stopping.state, 'draining')
      const refused = await names.get(`https://${web.host}/count`)
      assert.equal(refused.status, 404)
      assert.equal((await slow).status, 200)
      const [{ code }] = await closed
      assert.equal(code, 1001)
      const stopped = await waitFor(stack.api, web.uuid, 'stopped')
      assert.equal(stopped.stop_reason, 15)
      await stack.api.one('deleteInstances', { object: web.uuid })
    })

    it('is over as soon as nothing is connected any more', async () => {
      const web = await publish(stack, 'drains-early')
      await count(web)
      const startedMs = performance.now()
      await stack.api.one('stopInstances', { object: web.uuid, body: { drain_timeout_ms: 60_000 } })
      await waitFor(stack.api, web.uuid, 'stopped')
      assert.ok(performance.now() - startedMs < 30_000)
      await stack.api.one('deleteInstances', { object: web.uuid })
    })
  })

  describe('with the control plane down', () => {
    it('wakes and answers all the same, and everything is recorded when it is back', async () => {
      const web = await publish(stack, 'alone', { scale_to_zero: { policy: 'on', cooldown_time_ms: 300 } })
      await count(web)
      const { start_count: before = 0 } = await untilAsleep(stack, web.uuid)
      const parts = ['api', 'worker'].map((part) => stack.pidOf(part))
      for (const pid of parts) process.kill(pid, 'SIGSTOP')
      try {
        assert.equal(await count(web), 1)
      } finally {
        for (const pid of parts) process.kill(pid, 'SIGCONT')
      }
      await until(
        'the wake is recorded',
        async () => (await viewOf(stack.api, web.uuid)).start_count === before + 1,
        { limitMs: 30_000 },
      )
      await stack.api.one('deleteInstances', { object: web.uuid })
    })
  })

  /** Waits until the row counts another start. The instance may sleep again by then. */
  function untilStarted({ uuid }: Published, before: number | undefined): Promise<InstanceView> {
    return until(
      'the wake is recorded',
      async () => {
        const seen = await viewOf(stack.api, uuid)
        return seen.start_count !== before && seen
      },
      { limitMs: 30_000 },
    )
  }

  function websocketTo({ host }: Published): Promise<WebSocket> {
    return names.websocket(`wss://${host}/ws`)
  }
})

interface Lines {
  next(): Promise<string>
}

function linesOf(connection: TLSSocket): Lines {
  const iterator = createInterface({ input: connection })[Symbol.asyncIterator]()
  return {
    async next() {
      const { value, done } = await iterator.next()
      if (done === true) throw new Error('the connection was closed')
      return value
    },
  }
}
