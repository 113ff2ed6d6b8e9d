import assert from 'node:assert/strict'
import {
  addSpan,
  atPlace,
  setTracer,
  soundTraceparent,
  traced,
  traceparentNow,
} from '../../../src/primitives/traces.ts'
import { span } from '../../../src/primitives/spans.ts'
import { openTracing, wantsTraces } from '../../../src/tracing/tracing.ts'
import { startSpanReceiver } from '../../support/span-receiver.ts'

const place = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT'

describe('traces', () => {
  const warnings: string[] = []
  const log = { warn: (_fields: object, message: string) => void warnings.push(message) }
  const before = process.env[endpoint]
  beforeEach(() => warnings.splice(0))
  afterEach(() => {
    setTracer(undefined)
    if (before === undefined) delete process.env[endpoint]
    else process.env[endpoint] = before
  })

  it('are wanted only if a receiver is named and nothing forbids them', () => {
    const env = { [endpoint]: 'http://127.0.0.1:4318' }
    assert.equal(wantsTraces({}), false)
    assert.equal(wantsTraces({ OTEL_SERVICE_NAME: 'roost' }), false)
    assert.equal(wantsTraces(env), true)
    assert.equal(wantsTraces({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:4318/v1/traces' }), true)
    assert.equal(wantsTraces({ ...env, OTEL_SDK_DISABLED: 'true' }), false)
    assert.equal(wantsTraces({ ...env, OTEL_TRACES_EXPORTER: 'none' }), false)
  })

  it('do nothing without a tracer', async () => {
    assert.equal(
      await traced({ name: 'one', kind: 'internal', parent: place }, async () => traceparentNow()),
      undefined,
    )
    assert.equal(
      atPlace(place, () => traceparentNow()),
      undefined,
    )
  })

  it('take only a sound place', () => {
    assert.equal(soundTraceparent(place), place)
    const zeros = '0'.repeat(32)
    for (const text of [undefined, 7, '', `${place}x`, place.toUpperCase(), place.replace('00-', 'ff-')])
      assert.equal(soundTraceparent(text), undefined)
    assert.equal(soundTraceparent(`00-${zeros}-00f067aa0ba902b7-01`), undefined)
  })

  it('follow the work, and are exported with their parents', async () => {
    const receiver = await startSpanReceiver()
    process.env[endpoint] = receiver.url
    const tracer = await openTracing('test', { env: process.env, log })
    await atPlace(place, () =>
      span('b2b0a5a4-1c0e-4a53-8ad2-0d4a1c6e9f10', 'host: outer', async () => {
        await traced({ name: 'inner', kind: 'client' }, async () => undefined)
        addSpan({ name: 'elsewhere', kind: 'internal', startUs: 1 }, 2)
      }),
    )
    await span('b2b0a5a4-1c0e-4a53-8ad2-0d4a1c6e9f10', 'host: of no trace', async () => undefined)
    await tracer?.close()
    receiver.close()
    const outer = receiver.spans.find(({ name }) => name === 'host: outer')
    assert.equal(outer?.parentSpanId, '00f067aa0ba902b7')
    const others = receiver.spans.filter(({ name }) => name !== 'host: outer')
    assert.deepEqual(
      others.map(({ name, traceId, parentSpanId, part }) => ({ name, traceId, parentSpanId, part })),
      ['inner', 'elsewhere'].map((name) => ({
        name,
        traceId: place.split('-')[1],
        parentSpanId: outer?.spanId,
        part: 'test',
      })),
    )
  })

  it('of which nobody takes the spans fail nothing, and are told once', async () => {
    process.env[endpoint] = 'http://127.0.0.1:9'
    const env = { ...process.env, OTEL_TRACES_SAMPLER: 'sometimes', OTEL_TRACES_SAMPLER_ARG: '' }
    const tracer = await openTracing('test', { env, log })
    for (let index = 0; index < 10_000; index += 1) tracer?.begin({ name: 'lost', kind: 'internal' }).end()
    const beginMs = performance.now()
    await tracer?.close()
    assert.ok(performance.now() - beginMs < 5_000)
    assert.equal(warnings.filter((text) => text.includes("OTEL_TRACES_SAMPLER is 'sometimes'")).length, 1)
  })
})
