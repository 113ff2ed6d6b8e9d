import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startTestRegistry } from './registry.ts'
import { startDevServer } from './temporal.ts'
import { frontName, startTlsFront } from './tls-front.ts'
import { startTlsPostgres, withSsl } from './tls-postgres.ts'

/** PostgreSQL and Temporal behind TLS, and a registry, which other machines of a test reach, too. */
export interface OwnServices {
  /** The settings of a stack that uses them in place of its own. */
  readonly settings: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** Starts them for the machines that reach `address`, which this machine has. */
export async function startOwnServices(address: string): Promise<OwnServices> {
  const undo: (() => Promise<unknown> | void)[] = []
  const remove = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const directory = mkdtempSync(path.join(tmpdir(), 'roost-services-'))
    // The parts run as other users.
    chmodSync(directory, 0o755)
    undo.push(() => rmSync(directory, { recursive: true, force: true }))
    const file = (name: string, text: string): string => {
      const place = path.join(directory, name)
      writeFileSync(place, text, { mode: 0o644 })
      return place
    }
    const open = async (place: URL): Promise<string> => {
      const forward = await openForward(address, Number(place.port))
      undo.push(forward.close)
      return forward.address
    }
    const postgres = await startTlsPostgres()
    undo.push(async () => await postgres.stop())
    const temporal = await startDevServer()
    undo.push(async () => await temporal.teardown())
    const front = await startTlsFront(temporal.address)
    undo.push(async () => await front.close())
    const registry = await startTestRegistry()
    undo.push(async () => await registry.close())
    const database = new URL(postgres.url)
    database.host = await open(database)
    const settings = {
      DATABASE_URL: withSsl(database.href, {
        sslmode: 'verify-ca',
        sslrootcert: file('database-authority.crt', postgres.authority.pem),
      }),
      TEMPORAL_ADDRESS: await open(new URL(`tcp://${front.address}`)),
      TEMPORAL_TLS_SERVER_NAME: frontName,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: file('temporal-authority.crt', front.authority.pem),
      TEMPORAL_TLS_CLIENT_CERT_PATH: file('temporal-client.crt', front.client.pem),
      TEMPORAL_TLS_CLIENT_KEY_PATH: file('temporal-client.key', front.client.pkey),
      ROOST_REGISTRY_URL: `http://${await open(new URL(registry.url))}`,
      ROOST_REGISTRY_KEY_FILE: file('registry.key', registry.pem.key),
      ROOST_REGISTRY_CERT_FILE: file('registry.crt', registry.pem.certificate),
    }
    return { settings, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Passes what comes to a port of `host` on to a port of the loopback. */
async function openForward(
  host: string,
  port: number,
): Promise<{ readonly address: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect({ host: '127.0.0.1', port })
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => undefined)
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, host)
  await once(server, 'listening')
  return {
    address: `${host}:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
