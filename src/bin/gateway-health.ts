import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { Registry } from 'prom-client'

/** Answers `/healthz`, `/readyz` and `/metrics`, to this machine alone. */
export function createHealthServer(options: {
  /** The metrics of all processes, in the Prometheus format. */
  readonly metrics: () => Promise<string>
  /** Why the gateway can serve nothing yet. It is undefined once it can serve. */
  readonly notReady: () => string | undefined
}): Server {
  return createServer((request, response) => {
    void answer(request.url ?? '/', options).then(({ status, type = 'text/plain', body }) =>
      response.writeHead(status, { 'Content-Type': type }).end(body),
    )
  })
}

interface Answer {
  readonly status: number
  readonly type?: string
  readonly body: string
}

async function answer(
  url: string,
  { metrics, notReady }: Parameters<typeof createHealthServer>[0],
): Promise<Answer> {
  if (url === '/metrics')
    return { status: 200, type: Registry.PROMETHEUS_CONTENT_TYPE, body: await metrics() }
  if (url === '/healthz') return { status: 200, body: 'ok\n' }
  if (url !== '/readyz') return { status: 404, body: 'not here\n' }
  const reason = notReady()
  return reason === undefined ? { status: 200, body: 'ok\n' } : { status: 503, body: `${reason}\n` }
}
