import assert from 'node:assert/strict'
import { openPublicNames } from '../support/public-names.ts'
import type { PublicNames } from '../support/public-names.ts'
import { publish, untilAsleep } from '../support/published-instance.ts'
import { startSpanReceiver } from '../support/span-receiver.ts'
import type { ReceivedSpan, SpanReceiver } from '../support/span-receiver.ts'
import { startStack } from '../support/stack.ts'
import type { Stack } from '../support/stack.ts'
import { until } from '../support/until.ts'

/** The stack that the other tests share may have the public ports. */
const portOffset = 11_000

describe('traces', () => {
  const secret = 'a-value-that-no-span-may-have'
  let receiver: SpanReceiver
  let stack: Stack
  let names: PublicNames

  before(async () => {
    receiver = await startSpanReceiver()
    stack = await startStack({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      ROOST_PORT_OFFSET: String(portOffset),
    })
    names = openPublicNames(stack, { portOffset })
  })
  after(async () => {
    await names?.close()
    await stack?.remove()
    receiver?.close()
  })

  /** Waits for a span of each name in one trace, and returns the trace. */
  async function traceWith(wanted: readonly string[], traceId?: string): Promise<readonly ReceivedSpan[]> {
    return await until(
      `one trace has ${wanted.join(', ')}`,
      async () => {
        const ids = new Set(receiver.spans.map((span) => span.traceId))
        for (const id of traceId === undefined ? ids : [traceId]) {
          const trace = receiver.spans.filter((span) => span.traceId === id)
          if (wanted.every((name) => trace.some((span) => `${span.part} ${span.name}` === name))) return trace
        }
        return false
      },
      { limitMs: 60_000 },
    )
  }

  /** The names from the span up to the first of its trace. */
  function pathOf(trace: readonly ReceivedSpan[], name: string): readonly string[] {
    const path: string[] = []
    let span = trace.find((each) => each.name === name)
    while (span !== undefined) {
      path.push(span.name)
      const { parentSpanId } = span
      span = trace.find((each) => each.spanId === parentSpanId)
    }
    return path
  }

  it('lead from a call of the API over the workflow to QEMU, and from a request over its wake', async () => {
    const web = await publish(stack, 'traced', {
      env: { SECRET: secret },
      scale_to_zero: { policy: 'on', cooldown_time_ms: 500 },
    })
    const created = await traceWith([
      'api createInstances',
      'api StartWorkflow:instance',
      'worker RunActivity:recordInstance',
      'agent vm: QEMU',
    ])
    assert.equal(pathOf(created, 'vm: QEMU').at(-1), 'createInstances')
    for (const name of ['RunActivity:startInstance', 'RunActivity:recordInstance']) {
      const path = [name, 'StartWorkflow:instance', 'api: start of the workflow', 'createInstances']
      assert.deepEqual(pathOf(created, name), path)
    }

    await untilAsleep(stack, web.uuid)
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
    const answer = await names.get(`https://${web.host}/count`, {
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    })
    assert.equal(answer.status, 200, answer.text)
    const woken = await traceWith(['gateway GET', 'gateway gateway: instance', 'agent vm: QEMU'], traceId)
    assert.deepEqual(pathOf(woken, 'vm: QEMU'), ['vm: QEMU', 'host: wake', 'gateway: lease', 'GET'])
    assert.deepEqual(pathOf(woken, 'gateway: instance'), ['gateway: instance', 'GET'])
    assert.ok(!receiver.text().includes(secret) && !receiver.text().includes(stack.token))
  })
})
