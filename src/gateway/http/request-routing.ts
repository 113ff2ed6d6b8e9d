import type { RouteService } from '../../domain/service/route-feed.ts'
import { Handler } from '../../domain/service/handler.ts'
import type { PublishedPort } from '../../domain/service/handler.ts'
import type { Routes } from '../routes.ts'
import type { ClientConnection } from './client-connection.ts'
import { HttpFailure } from './http-failure.ts'
import { noService } from './refusals.ts'
import type { RequestHead } from './request-head.ts'

export interface Destination {
  readonly service: RouteService
  /** The application's port. */
  readonly port: number
  /** The address to which the client is redirected; undefined if it is not. */
  readonly location: string | undefined
}

/** Finds the service and the port for a request. Throws `HttpFailure`. */
export function findDestination(
  head: RequestHead,
  connection: ClientConnection,
  routes: Routes,
): Destination {
  if (head.method === 'TRACE' || (head.method === 'CONNECT' && !head.webSocket)) {
    throw new HttpFailure(405, `${head.method} is not offered here.`)
  }
  const service = routes.serviceOf(head.host)
  if (service === undefined) throw new HttpFailure(404, noService)
  const { serverName, arrival } = connection
  const shaken = serverName === '' || serverName === head.host ? undefined : routes.serviceOf(serverName)
  if (shaken !== undefined && shaken.uuid !== service.uuid) {
    // The certificate that the client checked was for another service, so the client has to connect again.
    throw new HttpFailure(421, 'This connection was made for another service.')
  }
  const published = service.ports.find(({ port }) => port === arrival.publicPort)
  if (published === undefined) throw new HttpFailure(404, noService)
  if (connection.trusted) connection.lastHead = head
  if (!published.handlers.includes(Handler.Redirect)) {
    return { service, port: published.destinationPort, location: undefined }
  }
  if (!arrival.secure && connection.proxySaysSecure(head)) {
    return { service, port: behindRedirect(service, published), location: undefined }
  }
  return {
    service,
    port: published.destinationPort,
    location: redirection(head, connection, published.destinationPort),
  }
}

/**
 * The application's port for a request that is already where the redirect leads: its client speaks TLS with
 * a trusted proxy. A redirect would bring it here again, without end. Throws `HttpFailure`.
 */
function behindRedirect(service: RouteService, { destinationPort }: PublishedPort): number {
  const secure = service.ports.find(({ port }) => port === destinationPort)
  if (secure === undefined || secure.handlers.includes(Handler.Redirect)) {
    throw new HttpFailure(404, noService)
  }
  return secure.destinationPort
}

const httpsPort = 443

function redirection(head: RequestHead, connection: ClientConnection, destinationPort: number): string {
  const port = destinationPort + connection.visiblePort - connection.arrival.publicPort
  const shown = port === httpsPort ? '' : `:${port}`
  return `https://${head.host}${shown}${head.target === '*' ? '/' : head.target}`
}
