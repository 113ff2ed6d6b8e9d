import type { ApiContext, ApiMiddleware } from '../request-state.ts'
import type { ConsoleFile, ConsoleFiles } from './files.ts'
import { isSentTo } from './session-cookie.ts'

const root = '/console/'
const page = 'index.html'
/** Files whose names have a hash of their content never change. */
const hashed = /^assets\//

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headers = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  Vary: 'Accept-Encoding',
}

/**
 * Serves the console's pages below `/console/`, and leads there from the root of their public name. Every
 * path that is no file gets the one page, whose script reads the path.
 */
export function consolePages(files: ConsoleFiles | undefined, publicName: string): ApiMiddleware {
  return async (ctx, next) => {
    const name = files === undefined ? undefined : pathBelowRoot(ctx)
    const file = name === undefined ? undefined : (files?.get(name) ?? pageAt(name))
    if (isWayIn(ctx, publicName) && files !== undefined) {
      ctx.state.route = root
      ctx.redirect(root)
    } else if (name === undefined || file === undefined) {
      await next()
    } else {
      const isAsset = hashed.test(name)
      ctx.state.route = isAsset ? '/console/assets' : root
      send(ctx, file, isAsset)
    }
  }

  function pageAt(name: string): ConsoleFile | undefined {
    return hashed.test(name) ? undefined : files?.get(page)
  }
}

/** The path of a read below `/console/`. */
function pathBelowRoot(ctx: ApiContext): string | undefined {
  return isRead(ctx) && ctx.path.startsWith(root) ? ctx.path.slice(root.length) : undefined
}

/** Whether a path leads to the pages without being one. */
function isWayIn(ctx: ApiContext, publicName: string): boolean {
  return isRead(ctx) && (ctx.path === '/console' || (ctx.path === '/' && isSentTo(ctx, publicName)))
}

function isRead({ method }: ApiContext): boolean {
  return method === 'GET' || method === 'HEAD'
}

function send(ctx: ApiContext, { type, etag, bodies }: ConsoleFile, isImmutable: boolean): void {
  ctx.set(headers)
  ctx.set('Cache-Control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache')
  ctx.status = 200
  ctx.etag = etag
  if (ctx.fresh) {
    ctx.status = 304
    return
  }
  const accepted = ctx.acceptsEncodings('br', 'gzip', 'identity')
  const encoding = accepted === 'br' || accepted === 'gzip' ? accepted : 'identity'
  const body = bodies[encoding] ?? bodies.identity
  ctx.type = type
  if (encoding !== 'identity' && body !== bodies.identity) ctx.set('Content-Encoding', encoding)
  ctx.body = body
}
