import { STATUS_CODES } from 'node:http'

export interface ErrorPage {
  readonly status: number
  readonly message: string
  /** The request's `Accept`. */
  readonly accept: string
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly allow?: string | undefined
  readonly location?: string | undefined
}

export interface RenderedPage {
  readonly fields: readonly string[]
  readonly body: string
}

export function renderErrorPage(page: ErrorPage): RenderedPage {
  const json = prefersJson(page.accept)
  const body = json ? `${JSON.stringify({ status: 'error', message: page.message })}\n` : html(page)
  const fields = [
    'Content-Type',
    json ? 'application/json' : 'text/html; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
  ]
  if (!json) {
    fields.push('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
    fields.push('X-Content-Type-Options', 'nosniff')
  }
  if (page.retryAfterMs !== undefined) {
    fields.push('Retry-After', String(Math.max(1, Math.ceil(page.retryAfterMs / 1_000))))
  }
  if (page.allow !== undefined) fields.push('Allow', page.allow)
  if (page.location !== undefined) fields.push('Location', page.location)
  if (page.requestId !== undefined) fields.push('X-Request-Id', page.requestId)
  return { fields, body }
}

/**
 * Whether the client prefers JSON. Browsers name text/html; a client that names JSON and not HTML is a
 * program.
 */
function prefersJson(accept: string): boolean {
  return /\bapplication\/(?:[\w.-]+\+)?json\b/i.test(accept) && !/\btext\/html\b/i.test(accept)
}

function html({ status, message, requestId }: ErrorPage): string {
  const title = `${status} ${STATUS_CODES[status] ?? 'Error'}`
  const request = requestId === undefined ? '' : `\n  <p><small>Request ${escaped(requestId)}</small></p>`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto; padding: 0 1.5rem }
  h1 { font-size: 1.1rem; opacity: .65; font-weight: 500 }
  p { font-size: 1.35rem; margin: .5rem 0 }
  small { font-size: .8rem; opacity: .6 }
</style>
<main>
  <h1>${title}</h1>
  <p>${escaped(message)}</p>${request}
</main>
</html>
`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign)
}
