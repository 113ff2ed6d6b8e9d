import type { CertificatePem } from '../listeners/context-cache.ts'
import type { RouteSink } from '../routes.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import type { ToServing } from './messages.ts'

/**
 * What a serving process knows from the main process. The certificate and the secret come before the order
 * to listen.
 */
export class MainLink {
  /** What the gateway shows to hosts on other machines. Undefined until it is told. */
  identity: PartIdentity | undefined
  readonly metro: { current: CertificatePem } = { current: { chain: '', key: '' } }
  readonly ticketSecret: { current: Buffer } = { current: Buffer.alloc(0) }
  readonly #table: RouteSink
  #heardMs = performance.now()

  constructor(table: RouteSink) {
    this.#table = table
  }

  /** The time since the API last sent a line to the main process. */
  get routesAgeMs(): number {
    return performance.now() - this.#heardMs
  }

  /** Takes what a message tells. Orders are carried out elsewhere. */
  take(message: ToServing): void {
    if (message.kind === 'metro') this.metro.current = message.certificate
    if (message.kind === 'identity') this.identity = message.identity
    if (message.kind === 'ticket-secret') this.ticketSecret.current = Buffer.from(message.secret)
    if (message.kind === 'heard') this.#heardMs = performance.now() - message.agoMs
    if (message.kind === 'routes') for (const line of message.lines) this.#table.apply(line)
  }
}
