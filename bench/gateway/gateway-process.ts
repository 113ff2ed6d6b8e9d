import { readFileSync } from 'node:fs'
import process from 'node:process'
import type { RouteNode } from '../../src/domain/service/route-feed.ts'
import { createGateway } from '../../src/gateway/gateway.ts'
import { RouteTable } from '../../src/gateway/route-table.ts'

/** The benchmark's orders to its gateway, as JSON in the first argument. */
export interface GatewayTask {
  readonly node: RouteNode
  readonly portOffset: number
  readonly certificate: { readonly chain: string; readonly key: string }
}

/**
 * The published TCP port, and the ports of the application. The host tells the gateway the address for each
 * of them.
 */
export const publishedTcp = 5432
export const applicationPorts = { http: 8080, tcp: 5432, bodies: 8081 } as const
export const publishedBodies = 8081

function table(node: RouteNode): RouteTable {
  const routes = new RouteTable()
  routes.apply({ kind: 'begin', snapshot: true })
  routes.apply({ kind: 'node', node })
  const service = {
    uuid: 'service',
    name: 'bench',
    domains: [{ fqdn: '127.0.0.1' }, { fqdn: 'localhost' }],
    ports: [
      { port: 80, destinationPort: applicationPorts.http, handlers: ['http'] },
      { port: 443, destinationPort: applicationPorts.http, handlers: ['tls', 'http'] },
      { port: publishedBodies, destinationPort: applicationPorts.bodies, handlers: ['http'] },
      { port: publishedTcp, destinationPort: applicationPorts.tcp, handlers: ['tls'] },
    ],
    softLimit: 10_000,
    hardLimit: 10_000,
  } as const
  routes.apply({ kind: 'service', service })
  const instance = { uuid: 'instance', name: 'bench', serviceUuid: service.uuid, nodeId: node.id } as const
  routes.apply({ kind: 'instance', instance: { ...instance, state: 'running' } })
  routes.apply({ kind: 'end', revision: '1' })
  return routes
}

function main({ node, portOffset, certificate }: GatewayTask): void {
  const read = (file: string): string => readFileSync(file, 'utf8')
  const complain = (fields: object, message: string): void => {
    process.stderr.write(`${message} ${JSON.stringify(fields)}\n`)
  }
  const gateway = createGateway({
    routes: table(node),
    metroCertificate: { current: { chain: read(certificate.chain), key: read(certificate.key) } },
    portOffset,
    host: '127.0.0.1',
    // All load comes from one address.
    clientLimits: { connectionsPerSource: 50_000 },
    log: { info: () => undefined, warn: complain, error: complain },
  })
  gateway.start()
  process.once('SIGTERM', () => void gateway.close().then(() => process.exit(0)))
}

if (import.meta.main) main(JSON.parse(process.argv[2] ?? '') as GatewayTask)
