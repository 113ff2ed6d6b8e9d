import assert from 'node:assert/strict'
import { followEvents } from '../support/followed-events.ts'
import type { FollowedEvents } from '../support/followed-events.ts'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

const limitMs = 60_000

describe('the stream of events of a stack', function () {
  let stack: Stack
  let names: PublicNames
  let stream: FollowedEvents
  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
    names = openPublicNames(stack)
    stream = await followEvents(`${stack.apiUrl}/v1/events/stream`, { token: stack.token })
  })
  after(async () => {
    stream?.close()
    await names?.close()
  })

  /** What was told of an object, each as `kind from>to by`. */
  function told(name: string): readonly string[] {
    return stream.seen
      .filter(({ data }) => data.object.name === name)
      .map(({ data: { kind, from = '', to = '', by } }) => `${kind} ${from}>${to} ${by.kind}`)
  }

  async function untilTold(name: string, expected: readonly string[]): Promise<void> {
    await until('everything is told', async () => told(name).length >= expected.length, { limitMs }).catch(
      (cause: unknown) => assert.deepEqual(told(name), expected, String(cause)),
    )
    assert.deepEqual(told(name), expected)
  }

  it('tells the life of an instance that sleeps and wakes, with the words of its explanation', async () => {
    const web: Published = await publish(stack, 'told', {
      scale_to_zero: { policy: 'on', cooldown_time_ms: 400, stateful: true },
    })
    await untilAsleep(stack, web.uuid)
    const asleep = await stack.api.one('explainInstances', { object: web.uuid })
    assert.equal((await names.get(`https://${web.host}/count`)).status, 200)
    await untilAsleep(stack, web.uuid)
    await stack.api.one('deleteInstances', { object: web.uuid })
    await untilTold('told', [
      'instance.created >starting token',
      'instance.state starting>running token',
      'instance.state running>standby policy',
      'instance.state standby>starting traffic',
      'instance.state starting>running traffic',
      'instance.state running>standby policy',
      'instance.deleted standby> token',
      'instance.removed > host',
    ])
    const services = stream.seen.filter(({ data }) => data.object.type === 'service')
    assert.deepEqual(
      services.map(({ data }) => data.kind),
      ['service.created', 'service.deleted'],
    )
    const slept = stream.seen.find(({ data }) => data.object.name === 'told' && data.to === 'standby')
    assert.match(asleep.now, new RegExp(`^told is asleep since .*, because ${slept?.data.why}\\.$`))
  })

  it('tells why an application was started again', async () => {
    await stack.api.one('createInstances', {
      body: {
        name: 'crashes',
        image: 'busybox',
        args: ['sh', '-c', 'sleep 0.2; exit 3'],
        restart_policy: 'on-failure',
        autostart: true,
      },
    })
    const restarted = /exit code 3; its restart policy starts it again/
    const reasons = () =>
      stream.seen.filter(({ data }) => data.object.name === 'crashes').map(({ data }) => data.why as string)
    await until('the restart is told', async () => reasons().some((why) => restarted.test(why)), { limitMs })
    await stack.api.one('deleteInstances', { object: 'crashes' })
  })

  it('goes on after the last event that was seen, however often it is read', async () => {
    const again = await followEvents(`${stack.apiUrl}/v1/events/stream`, {
      token: stack.token,
      lastEventId: stream.seen[0]!.id!,
    })
    try {
      const expected = stream.seen.slice(1).map(({ id }) => id)
      await again.atLeast(expected.length)
      assert.deepEqual(
        again.seen.slice(0, expected.length).map(({ id }) => id),
        expected,
      )
    } finally {
      again.close()
    }
  })
})
