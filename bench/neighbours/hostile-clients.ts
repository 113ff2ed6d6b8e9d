import { randomBytes, createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { createRegistryHttp } from '../../src/registry/registry-http.ts'
import { createRegistryUpload } from '../../src/registry/registry-upload.ts'
import { userTokens } from '../../src/registry/user-tokens.ts'

/**
 * A process of its own that does what a hostile user can do from outside: it fills the gateway with
 * connections, wakes all its sleeping instances again and again, and pushes to the registry. Everything goes
 * to the loopback of the benchmark's namespace and is bounded in number. The process ends with its standard
 * input or after `limitMs`. The first line of that input holds its orders, because arguments would show the
 * token to other users.
 */
export interface HostileClientsInput {
  readonly apiUrl: string
  readonly registryUrl: string
  readonly token: string
  readonly userName: string
  readonly sleeperHosts: readonly string[]
  readonly limitMs: number
}

export interface HostileClientsReport {
  readonly connectionsOpened: number
  readonly connectionsEnded: number
  readonly wakesAsked: number
  readonly pushedMb: number
  readonly pushRefusal?: string
}

const sources = 16
const connectionsPerSource = 250
const connectionsPerSecond = 1_000
const pushes = 2
const pushMb = 64
const maxPushedMb = 8_192
const stormPauseMs = 1_500

const counts = { connectionsOpened: 0, connectionsEnded: 0, wakesAsked: 0, pushedMb: 0 }
let pushRefusal: string | undefined

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin })
  const [line] = (await once(lines, 'line')) as [string]
  const input = JSON.parse(line) as HostileClientsInput
  const ending = AbortSignal.timeout(input.limitMs)
  const stop = new AbortController()
  lines.once('close', () => stop.abort())
  const signal = AbortSignal.any([ending, stop.signal])
  await Promise.all([
    occupy(signal),
    storm(input.sleeperHosts, signal),
    ...Array.from({ length: pushes }, (_, index) => push(input, index, signal)),
  ])
  const report: HostileClientsReport = { ...counts, ...(pushRefusal === undefined ? {} : { pushRefusal }) }
  process.stdout.write(`${JSON.stringify(report)}\n`)
  process.exit(0)
}

/**
 * Opens connections from many addresses that send half a head and then nothing. When one is closed, a new
 * one is opened.
 */
async function occupy(signal: AbortSignal): Promise<void> {
  const open = new Set<Socket>()
  while (!signal.aborted) {
    for (
      let index = 0;
      index < connectionsPerSecond / 10 && open.size < sources * connectionsPerSource;
      index++
    ) {
      const localAddress = `127.0.1.${1 + (counts.connectionsOpened % sources)}`
      const socket = connect({ host: '127.0.0.1', port: 80, localAddress })
      counts.connectionsOpened += 1
      open.add(socket)
      socket.on('error', () => undefined)
      // If nobody read the socket, it would not notice that the gateway ended it.
      socket.resume()
      socket.once('connect', () => socket.write('GET / HTTP/1.1\r\nHost: '))
      socket.once('close', () => {
        open.delete(socket)
        counts.connectionsEnded += 1
      })
    }
    await pause(100, signal)
  }
  for (const socket of open) socket.destroy()
}

async function storm(hosts: readonly string[], signal: AbortSignal): Promise<void> {
  const dispatcher = new Agent({
    connect: {
      localAddress: '127.0.2.1',
      rejectUnauthorized: false,
      lookup: (_host, wanted, done) => {
        if (wanted.all === true) done(null, [{ address: '127.0.0.1', family: 4 }])
        else done(null, '127.0.0.1', 4)
      },
    },
  })
  while (!signal.aborted) {
    counts.wakesAsked += hosts.length
    await Promise.all(
      hosts.map(async (host) => {
        const answer = await request(`https://${host}/count`, { dispatcher, signal }).catch(() => undefined)
        await answer?.body.dump().catch(() => undefined)
      }),
    )
    await pause(stormPauseMs, signal)
  }
}

/** Pushes blobs that no image refers to, as fast as the registry accepts them. */
async function push(input: HostileClientsInput, index: number, signal: AbortSignal): Promise<void> {
  const http = createRegistryHttp({
    url: input.registryUrl,
    token: userTokens({ tokenUrl: `${input.apiUrl}/registry/token`, token: input.token }),
  })
  const upload = createRegistryUpload(http)
  const repository = `${input.userName}/rubbish-${String.fromCodePoint(97 + index)}`
  while (!signal.aborted && counts.pushedMb < maxPushedMb) {
    const content = Buffer.alloc(pushMb << 20)
    randomBytes(16).copy(content)
    const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
    try {
      await upload.blob(repository, { digest, size: content.length }, () => Readable.from(pieces(content)))
      counts.pushedMb += pushMb
    } catch (error) {
      pushRefusal = error instanceof Error ? error.message : String(error)
      await pause(1_000, signal)
    }
  }
  await http.close().catch(() => undefined)
}

function* pieces(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 65_536) yield content.subarray(at, at + 65_536)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined)
}

await main()
