import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { viewOf, waitFor } from '../support/instances.ts'
import { virtualMachinesOf } from '../support/processes.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const asRoot = process.getuid?.() === 0
const perSecond = 40
/** A slow machine answers fewer. What it can not answer is not sent. */
const mostUnderWay = 20

/** The instance has no scale-to-zero: nothing but its user sends it to standby. */
describe('an instance that its user sends to standby', function () {
  let stack: Stack
  let names: PublicNames
  let web: Published
  before(async function () {
    if (!asRoot) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    web = await publish(stack, 'word', { scale_to_zero: { policy: 'off' } })
  })
  after(async () => {
    await names?.close()
    if (web !== undefined) await stack.api.one('deleteInstances', { object: web.uuid })
  })

  const get = async (path: string): Promise<string> => {
    const answer = await names.get(`https://${web.host}${path}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.text
  }
  const suspend = async (body: object = {}) =>
    await stack.api.one('suspendInstances', { object: web.uuid, body })
  const startsOf = async () => (await viewOf(stack.api, web.uuid)).start_count ?? 0

  it('loses no request under load, wakes for the next one, and goes on where it was', async () => {
    const before = await startsOf()
    const load = { over: false, underWay: 0, answers: [] as number[], errors: [] as string[] }
    const ask = async () => {
      load.underWay += 1
      await get('/count').then(
        (text) => load.answers.push(Number(text)),
        (error: unknown) => load.errors.push(String(error)),
      )
      load.underWay -= 1
    }
    const sending = (async () => {
      const asked: Promise<void>[] = []
      for (; !load.over; await delay(1_000 / perSecond)) if (load.underWay < mostUnderWay) asked.push(ask())
      await Promise.all(asked)
    })()
    try {
      for (let time = 1; time <= 2; time++) {
        await delay(1_000)
        assert.equal((await suspend()).previous_state, 'running')
        await until('it has slept and was woken', async () => (await startsOf()) === before + time, {
          limitMs: 60_000,
        })
        await waitFor(stack.api, web.uuid, 'running')
      }
    } finally {
      load.over = true
      await sending
    }
    assert.deepEqual(load.errors, [])
    const answers = load.answers.toSorted((one, other) => one - other)
    assert.ok(answers.length > perSecond, `only ${answers.length} requests`)
    assert.deepEqual(
      answers,
      answers.map((_, index) => index + 1),
    )
  })

  it('sleeps without traffic for as long as nobody wants it, and a start wakes it with its memory', async () => {
    const count = Number(await get('/count'))
    await suspend()
    const asleep = await waitFor(stack.api, web.uuid, 'standby')
    assert.notEqual(asleep.snapshot, undefined)
    await delay(2_000)
    assert.deepEqual(virtualMachinesOf(web.uuid), [])
    const told = await stack.api.one('explainInstances', { object: web.uuid })
    assert.match(told.now, /is asleep since .*, because its user said so; its memory is kept in snapshot/)
    const started = await stack.api.one('startInstances', {
      object: web.uuid,
      body: { wait_timeout_ms: 60_000 },
    })
    assert.deepEqual([started.previous_state, started.state], ['standby', 'running'])
    assert.equal(Number(await get('/count')), count + 1)
  })

  it('a request that is in flight has its time to end', async () => {
    const before = await startsOf()
    const slow = get('/slow?ms=2000')
    await delay(500)
    await suspend({ drain_timeout_ms: 10_000 })
    await slow
    assert.equal(await startsOf(), before, 'it did not sleep before')
    await waitFor(stack.api, web.uuid, 'standby')
  })

  it('a request that is in flight for longer is slept through, and answered after the wake', async () => {
    await stack.api.one('startInstances', { object: web.uuid, body: { wait_timeout_ms: 60_000 } })
    const slow = get('/slow?ms=3000')
    await delay(500)
    await suspend({ drain_timeout_ms: 0 })
    await waitFor(stack.api, web.uuid, 'standby')
    await delay(1_000)
    assert.deepEqual(virtualMachinesOf(web.uuid), [], 'what is in flight does not wake it')
    await stack.api.one('startInstances', { object: web.uuid })
    await slow
  })
})
