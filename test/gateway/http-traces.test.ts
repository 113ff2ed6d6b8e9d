import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import type { OpenSpan, SpanEnd, SpanStart, Tracer } from '../../src/primitives/traces.ts'
import { TestFront, exchangeRaw, onBothRoads } from '../support/gateway-http.ts'
import { Upstream } from '../support/gateway-http-upstream.ts'

const clientPlace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

class ListingTracer implements Tracer {
  readonly spans: { readonly start: SpanStart; readonly place: string; readonly ends: SpanEnd[] }[] = []

  begin(start: SpanStart): OpenSpan {
    const place = `00-4bf92f3577b34da6a3ce929d0e0e4736-${String(this.spans.length + 1).padStart(16, '0')}-01`
    const ends: SpanEnd[] = []
    this.spans.push({ start, place, ends })
    return { traceparent: place, end: (end = {}) => void ends.push(end) }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

onBothRoads('a trace through the gateway', () => {
  let front: TestFront
  let upstream: Upstream
  let seen: IncomingHttpHeaders[] = []

  before(async () => {
    upstream = await Upstream.http((request, response) => {
      seen.push(request.headers)
      response.end('hello')
    })
  })
  afterEach(() => front.close())
  after(() => upstream.close())

  async function get(tracer: Tracer | undefined, fields: readonly string[]): Promise<void> {
    seen = []
    front = await TestFront.start({ tracer })
    front.traffic.port = upstream.port
    const lines = ['GET /secret?token=1 HTTP/1.1', 'Host: app.test', ...fields, 'Connection: close']
    assert.match(await exchangeRaw(front.plainPort, `${lines.join('\r\n')}\r\n\r\n`), /^HTTP\/1\.1 200 OK/)
    assert.deepEqual(front.errors, [])
  }

  it('is continued from the client, and the instance gets the place of the last span', async () => {
    const tracer = new ListingTracer()
    await get(tracer, [`TraceParent: ${clientPlace}`, 'tracestate: a=b'])
    const [request, lease, instance] = tracer.spans
    assert.deepEqual(
      tracer.spans.map(({ start }) => start.name),
      ['GET', 'gateway: lease', 'gateway: instance'],
    )
    assert.equal(request?.start.parent, clientPlace)
    assert.equal(lease?.start.parent, request?.place)
    assert.equal(instance?.start.parent, request?.place)
    assert.equal(seen[0]?.['traceparent'], instance?.place)
    assert.equal(seen[0]?.['tracestate'], 'a=b')
    for (const { ends } of tracer.spans) assert.equal(ends.length, 1)
    assert.ok(!JSON.stringify(tracer.spans).includes('token'))
  })

  it('begins at the gateway if the client names no sound place, or two', async () => {
    for (const fields of [
      [],
      ['traceparent: 1'],
      [`traceparent: ${clientPlace}`, `traceparent: ${clientPlace}`],
    ]) {
      const tracer = new ListingTracer()
      await get(tracer, fields)
      assert.equal(tracer.spans[0]?.start.parent, undefined)
      assert.equal(seen[0]?.['traceparent'], tracer.spans[2]?.place)
      await front.close()
    }
  })

  it("leaves the client's own place alone if there are no traces", async () => {
    await get(undefined, [`traceparent: ${clientPlace}`])
    assert.equal(seen[0]?.['traceparent'], clientPlace)
  })
})
