import { Handler, defaultHardLimit, defaultSoftLimit } from './handler.ts'
import type { PublishedPort } from './handler.ts'

/** A port as its creator asked for it. */
export interface WantedPort {
  readonly port: number
  readonly destinationPort?: number
  readonly handlers?: readonly Handler[]
}

export type PortRefusal =
  | { readonly kind: 'duplicate'; readonly port: number }
  | { readonly kind: 'missing-handler'; readonly port: number; readonly handler: Handler }
  | { readonly kind: 'forbidden-handler'; readonly port: number; readonly handler: Handler }
  /** A redirect leads from 80 to 443 and nowhere else. */
  | { readonly kind: 'redirect-destination'; readonly port: number; readonly destination: number }

export type PortsOutcome =
  | { readonly ok: true; readonly ports: readonly PublishedPort[] }
  | { readonly ok: false; readonly refusals: readonly PortRefusal[] }

const httpPort = 80
const httpsPort = 443
const handlerOrder = Object.values(Handler)

interface HandlerRule {
  readonly needed: readonly Handler[]
  readonly permitted: readonly Handler[]
}

/** The handlers that a port needs and permits. A port for which none are given gets those that it needs. */
function ruleOf(port: number): HandlerRule {
  if (port === httpPort) return { needed: [Handler.Http], permitted: [Handler.Http, Handler.Redirect] }
  if (port === httpsPort)
    return { needed: [Handler.Tls, Handler.Http], permitted: [Handler.Tls, Handler.Http] }
  return { needed: [Handler.Tls], permitted: [Handler.Tls] }
}

/**
 * The ports of a service with defaults for what was left out: the handlers that the port needs, the public
 * port as the destination, and 443 as the destination of a redirect. If anything is wrong with the ports,
 * returns all refusals instead.
 */
export function resolvePorts(wanted: readonly WantedPort[]): PortsOutcome {
  const refusals = [...duplicates(wanted), ...wanted.flatMap(refusalsOf)]
  return refusals.length > 0 ? { ok: false, refusals } : { ok: true, ports: wanted.map(resolved) }
}

function duplicates(wanted: readonly WantedPort[]): readonly PortRefusal[] {
  const counts = Map.groupBy(wanted, ({ port }) => port)
  return [...counts].flatMap(([port, same]) =>
    same.length > 1 ? [{ kind: 'duplicate', port } as const] : [],
  )
}

function refusalsOf(wanted: WantedPort): readonly PortRefusal[] {
  const { port, handlers } = wanted
  const { needed, permitted } = ruleOf(port)
  if (handlers === undefined) return []
  const redirects = handlers.includes(Handler.Redirect) && permitted.includes(Handler.Redirect)
  const destination = wanted.destinationPort ?? httpsPort
  return [
    ...needed
      .filter((handler) => !handlers.includes(handler))
      .map((handler) => ({ kind: 'missing-handler', port, handler }) as const),
    ...[...new Set(handlers)]
      .filter((handler) => !permitted.includes(handler))
      .map((handler) => ({ kind: 'forbidden-handler', port, handler }) as const),
    ...(redirects && destination !== httpsPort
      ? [{ kind: 'redirect-destination', port, destination } as const]
      : []),
  ]
}

function resolved({ port, destinationPort, handlers }: WantedPort): PublishedPort {
  const chosen = new Set(handlers ?? ruleOf(port).needed)
  return {
    port,
    destinationPort: destinationPort ?? (chosen.has(Handler.Redirect) ? httpsPort : port),
    handlers: handlerOrder.filter((handler) => chosen.has(handler)),
  }
}

export interface ConnectionLimits {
  readonly softLimit: number
  readonly hardLimit: number
}

/** Returns undefined if the soft limit is above the hard one: it could never be reached. */
export function resolveLimits(wanted: Partial<ConnectionLimits>): ConnectionLimits | undefined {
  const { softLimit = defaultSoftLimit, hardLimit = defaultHardLimit } = wanted
  return softLimit <= hardLimit ? { softLimit, hardLimit } : undefined
}
