import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * The gateway's place until services exist: it answers every public name that there is none. Nothing of a request is
 * read but its head, whose size Node bounds.
 */
const message = 'There is no service on this URL.'

const requestLimitMs = 10_000

export function createNoServiceServer(): Server {
  return createServer({ requestTimeout: requestLimitMs }, answerNoService)
}

export function answerNoService(request: IncomingMessage, response: ServerResponse): void {
  const json = prefersJson(request.headers.accept ?? '')
  const body = json ? JSON.stringify({ status: 'error', message }) : page
  response.writeHead(404, {
    'Content-Type': json ? 'application/json' : 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    // A body that we do not read must not stand between two requests.
    Connection: 'close',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Browsers name text/html; whoever names JSON and not HTML is a program. */
function prefersJson(accept: string): boolean {
  return /\bapplication\/(?:[\w.-]+\+)?json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
}

const page = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>No service</title>
  <p>${message}</p>
</html>
`
