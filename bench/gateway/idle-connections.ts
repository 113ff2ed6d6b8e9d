import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Proxy } from './proxy.ts'

export const idleConnections = 10_000
/** The number of connections that are opened at the same time. */
const atOnce = 50
/** How long a proxy may take to free what it used for the requests. */
const settleMs = 2_000
const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

/**
 * The memory that a proxy has for each idle connection. Each of `idleConnections` connections carries one
 * request, and stays open.
 */
export async function bytesPerIdleConnection(proxy: Proxy): Promise<number> {
  const before = residentBytes(proxy.pid)
  const sockets: Socket[] = []
  try {
    while (sockets.length < idleConnections) {
      sockets.push(...(await Promise.all(Array.from({ length: atOnce }, () => used(proxy.ports.http)))))
    }
    await delay(settleMs)
    return (residentBytes(proxy.pid) - before) / idleConnections
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

async function used(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(answer.toString('latin1'))
  return socket
}

function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kibibytes) * 1_024
}
