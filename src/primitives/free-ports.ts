import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/**
 * Returns ports of 127.0.0.1 on which nobody listens now. All of them are held at the same time, so that they
 * differ. They are free again when this resolves, so another program may take one before the caller does.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  try {
    await Promise.all(servers.map(async (server) => await once(server, 'listening')))
    return servers.map((server) => (server.address() as AddressInfo).port)
  } finally {
    await Promise.all(servers.map(async (server) => await new Promise((resolve) => server.close(resolve))))
  }
}

/** Returns one such port. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}
