import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { viewOf, waitFor } from '../support/instances.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0
const soon = { limitMs: 60_000 }

describe('a change of an instance', function () {
  let stack: Stack
  let names: PublicNames
  let web: Published
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    web = await publish(stack, 'changed', { memory_mb: 128 })
  })
  after(async () => {
    if (web !== undefined) await stack.api.one('deleteInstances', { object: web.uuid })
    await names?.close()
  })

  const count = async (): Promise<number> => {
    const answer = await names.get(`https://${web.host}/count`)
    assert.equal(answer.status, 200, answer.text)
    return Number(answer.text)
  }
  const change = async (body: object) => await stack.api.one('updateInstances', { object: web.uuid, body })

  it('waits while its boot runs, and takes effect by a restart', async () => {
    assert.equal(await count(), 1)
    const asked = await change({ memory_mb: 192, env: { LEVEL: 'debug' } })
    assert.deepEqual(asked.needs_restart, ['env', 'memory_mb'])
    assert.equal(await count(), 2, 'its memory goes on')
    const restarted = await change({ restart: true, drain_timeout_ms: 5_000 })
    assert.equal(restarted.restarting, true)
    await until(
      'a boot with the change runs',
      async () => {
        const { state, start_count: starts, updates } = await viewOf(stack.api, web.uuid)
        return state === 'running' && starts === 2 && updates === undefined
      },
      soon,
    )
    assert.equal(await count(), 1, 'its memory begins again')
    const { memory_mb: memory, uuid } = await viewOf(stack.api, web.uuid)
    assert.deepEqual([memory, uuid], [192, web.uuid])
  })

  it('restarts without a request that fails: those that come meanwhile wait', async () => {
    let isOver = false
    const answers: Promise<{ readonly status: number; readonly text: string }>[] = []
    const traffic = async (): Promise<void> => {
      while (!isOver) {
        answers.push(names.get(`https://${web.host}/slow?ms=20`))
        await delay(25)
      }
    }
    const flowing = traffic()
    await change({ memory_mb: 160, restart: true })
    await until('it has restarted', async () => (await viewOf(stack.api, web.uuid)).start_count === 3, soon)
    await waitFor(stack.api, web.uuid, 'running')
    await delay(500)
    isOver = true
    await flowing
    const all = await Promise.all(answers)
    assert.ok(all.length > 30, `${all.length} requests`)
    const failed = all.filter(({ status }) => status !== 200).map(({ status, text }) => `${status} ${text}`)
    assert.deepEqual(failed, [])
  })

  it('lets it sleep from now on, without a restart', async () => {
    await change({ scale_to_zero: { policy: 'on', stateful: true, cooldown_time_ms: 300 } })
    const asleep = await untilAsleep(stack, web.uuid)
    assert.equal(asleep.start_count, 3)
    assert.notEqual(asleep.snapshot, undefined)
    const woken = await count()
    assert.ok(woken > 10, 'it wakes with its memory')
  })

  it('leaves its kept memory alone, until a restart is asked for', async () => {
    await untilAsleep(stack, web.uuid)
    const asked = await change({ memory_mb: 128 })
    assert.deepEqual([asked.needs_restart, asked.memory_dropped], [['memory_mb'], false])
    assert.ok((await count()) > 10)
    await untilAsleep(stack, web.uuid)
    const dropped = await change({ restart: true })
    assert.deepEqual([dropped.state, dropped.memory_dropped], ['standby', true])
    await until(
      'its memory is dropped',
      async () => (await viewOf(stack.api, web.uuid)).snapshot === undefined,
      soon,
    )
    assert.equal(await count(), 1, 'it wakes with the change')
    assert.equal((await viewOf(stack.api, web.uuid)).updates, undefined, 'nothing waits')
  })

  it('keeps it awake again', async () => {
    await change({ clear: ['scale_to_zero'] })
    assert.ok((await count()) >= 1)
    await waitFor(stack.api, web.uuid, 'running')
    assert.equal((await viewOf(stack.api, web.uuid)).scale_to_zero?.enabled, false)
  })

  it('is told in events with before and after', async () => {
    const events = await stack.api.call('listEvents', {
      query: { object: web.uuid, kind: 'instance.changed' },
    })
    const why = events.map((event) => ('why' in event ? event.why : '')).toReversed()
    assert.match(
      why[0] ?? '',
      /env: added LEVEL; memory_mb from 128 to 192; it needs a restart for env, memory_mb/,
    )
    assert.match(why[1] ?? '', /^a restart was asked for; it restarts for env, memory_mb/)
    assert.match(why[5] ?? '', /its kept memory is dropped$/)
  })
})
