import type { RouteLine } from '../../src/domain/service/route-feed.ts'
import { nameOf } from './quick-issuer.ts'
import type { IssuedCertificate } from './quick-issuer.ts'

/** The number of names of one service. Services of users have a few names. */
const namesPerService = 5

/** The feed's lines for the certificates of names 0, 1 and so on, and for services with those names. */
export function* linesOf(all: readonly IssuedCertificate[]): Generator<RouteLine> {
  for (const [index, issued] of all.entries()) yield certificateLine(index, issued)
  for (let first = 0; first < all.length; first += namesPerService) {
    const count = Math.min(namesPerService, all.length - first)
    const indices = Array.from({ length: count }, (_, at) => first + at)
    yield {
      kind: 'service',
      service: {
        uuid: `service-${first}`,
        name: `bench-${first}`,
        domains: indices.map((index) => ({ fqdn: nameOf(index), certificateUuid: uuidOf(index) })),
        ports: [{ port: 443, destinationPort: 8080, handlers: ['tls', 'http'] }],
        softLimit: 100,
        hardLimit: 1_000,
      },
    }
  }
}

export function certificateLine(index: number, { name, chain, key }: IssuedCertificate): RouteLine {
  const certificate = { uuid: uuidOf(index), commonName: name, state: 'valid', chain, key } as const
  return { kind: 'certificate', certificate }
}

function uuidOf(index: number): string {
  return `certificate-${index}`
}
