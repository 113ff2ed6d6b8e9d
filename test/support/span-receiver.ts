import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly part: string
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string }
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, 'part'>[] }[]
  }[]
}

export interface SpanReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** All that was received, as text. */
  text(): string
  close(): void
}

/** A receiver of OTLP over HTTP with JSON. */
export async function startSpanReceiver(): Promise<SpanReceiver> {
  const spans: ReceivedSpan[] = []
  const texts: string[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      texts.push(text)
      for (const { resource, scopeSpans } of (JSON.parse(text) as Request).resourceSpans) {
        const part = resource.attributes.find(({ key }) => key === 'roost.part')?.value.stringValue ?? ''
        for (const scope of scopeSpans) for (const span of scope.spans) spans.push({ ...span, part })
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => texts.join('\n'),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
