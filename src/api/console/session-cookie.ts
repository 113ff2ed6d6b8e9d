import { nameIn } from '../middleware/published-paths.ts'
import type { ApiContext } from '../request-state.ts'

/**
 * The names of the cookie, over TLS and over plain HTTP. A browser takes a cookie whose name begins with
 * `__Host-` only from the very host that it is sent to. So the page of a service below the same metro domain
 * can not set this cookie, and can not sign a person in to an account of somebody else.
 */
const secureName = '__Host-roost-console'
const plainName = 'roost-console'

/** The secret of the console's session in a request. */
export function sessionSecret(ctx: ApiContext): string | undefined {
  return ctx.cookies.get(cookieName(ctx))
}

/** Sets the cookie until the browser is closed; the session itself ends earlier. */
export function setSessionCookie(ctx: ApiContext, secret: string): void {
  ctx.append('Set-Cookie', cookieText(ctx, secret))
}

export function clearSessionCookie(ctx: ApiContext): void {
  ctx.append('Set-Cookie', `${cookieText(ctx, '')}; Max-Age=0`)
}

function cookieText(ctx: ApiContext, value: string): string {
  const secure = isSecure(ctx) ? '; Secure' : ''
  return `${cookieName(ctx)}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`
}

function cookieName(ctx: ApiContext): string {
  return isSecure(ctx) ? secureName : plainName
}

/** The gateway writes these fields itself, and drops what a client wrote there. */
function isSecure(ctx: ApiContext): boolean {
  return ctx.get('X-Forwarded-Proto').split(',').at(-1)?.trim() === 'https'
}

/**
 * Whether a request comes from a page of the very same origin. `SameSite` is not enough: pages of services
 * below the metro domain are on the same site. Browsers say it in `Sec-Fetch-Site` if the page came over TLS
 * or from this machine. Older ones send `Origin`, with requests that change something.
 */
export function isFromOwnPage(ctx: ApiContext): boolean {
  const site = ctx.get('Sec-Fetch-Site')
  if (site !== '') return site === 'same-origin'
  return ctx.get('Origin') === `${isSecure(ctx) ? 'https' : 'http'}://${requestedHost(ctx)}`
}

/** Whether the request was sent to this public name. */
export function isSentTo(ctx: ApiContext, publicName: string): boolean {
  return nameIn(ctx.get('X-Forwarded-Host')) === publicName
}

function requestedHost(ctx: ApiContext): string {
  return (ctx.get('X-Forwarded-Host') || ctx.get('Host')).toLowerCase()
}
