import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import process from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import type { RouteLine } from '../../src/domain/service/route-feed.ts'
import { rememberedPorts } from '../../src/launch/ports.ts'
import { jsonLine } from '../../src/primitives/json-lines.ts'
import { familyOf } from '../../test/support/processes.ts'
import { untilListens } from '../gateway/listening.ts'

/** A real gateway process. The benchmark takes the API's place and sends it the feed of routes. */
export interface FeedGateway {
  /** The numbers of the processes that serve and the main process. */
  pids(): readonly number[]
  readonly port: number
  /** Sends the lines as one block. Waits if the reader is slow. */
  tell(lines: Iterable<RouteLine>): Promise<void>
  metric(line: string): Promise<number | undefined>
  stop(): Promise<void>
}

const portOffset = 18_400
const beatMs = 1_000
const askLimitMs = 10_000
const tellLimitMs = 30_000
const stopLimitMs = 5_000
const linesAtOnce = 100
const shownBytes = 2_000
const checkout = path.resolve(import.meta.dirname, '../..')

export async function startFeedGateway(): Promise<FeedGateway> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-bench-certificates-'))
  mkdirSync(path.join(directory, 'keys'))
  writeFileSync(path.join(directory, 'keys', 'gateway-token'), 'bench\n', { mode: 0o600 })
  const { metrics } = await rememberedPorts(path.join(directory, 'ports.json'), ['metrics'])
  const connected = Promise.withResolvers<boolean>()
  let feed: ServerResponse | undefined
  let revision = 0
  const api = createServer((request, response) => {
    const since = new URL(request.url ?? '/', 'http://api').searchParams.get('since')
    // The gateway lost the connection in the middle of a block, and the benchmark can not send the rest of
    // that block.
    if (since !== null && since !== String(revision)) return void response.writeHead(503).end()
    const kept = jsonLine({ kind: 'begin', snapshot: since === null })
    response.write(kept + jsonLine({ kind: 'end', revision: String(revision) }))
    feed = response
    connected.resolve(true)
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const child = spawn(process.execPath, ['src/bin/gateway.ts'], {
    cwd: checkout,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      ROOST_DATA_DIR: directory,
      ROOST_API_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
      ROOST_GATEWAY_METRICS_PORT: String(metrics),
      ROOST_GATEWAY_HOST: '127.0.0.1',
      ROOST_PORT_OFFSET: String(portOffset),
    },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (said = (said + String(chunk)).slice(-shownBytes)))
  }
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    clearInterval(beats)
    child.kill('SIGINT')
    const unwilling = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
    await exited
    clearTimeout(unwilling)
    api.closeAllConnections()
    api.close()
    rmSync(directory, { recursive: true, force: true })
  }
  const port = 443 + portOffset
  const beats = setInterval(() => feed?.write(jsonLine({ kind: 'beat' })), beatMs)
  try {
    await untilListens(port, () => child.exitCode !== null)
    const asked = await Promise.race([connected.promise, delay(askLimitMs, false, { ref: false })])
    if (!asked) throw new Error('it did not ask for its routes')
  } catch (error) {
    await stop()
    throw new Error(`the gateway did not start: ${said}`, { cause: error })
  }
  return {
    pids: () => familyOf(child.pid ?? 0),
    port,
    stop,
    tell: async (lines) => {
      for (const piece of pieces(lines, String(++revision))) {
        if (feed === undefined || feed.destroyed) throw new Error('the gateway left the feed of its routes')
        if (feed.write(piece)) continue
        await once(feed, 'drain', { signal: AbortSignal.timeout(tellLimitMs) })
      }
    },
    metric: async (line) => {
      const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
      const found = text.split('\n').find((each) => each.startsWith(`${line} `))
      return found === undefined ? undefined : Number(found.slice(line.length + 1))
    },
  }
}

function* pieces(lines: Iterable<RouteLine>, revision: string): Generator<string> {
  let piece = jsonLine({ kind: 'begin', snapshot: false })
  let count = 0
  for (const line of lines) {
    piece += jsonLine(line)
    if (++count % linesAtOnce !== 0) continue
    yield piece
    piece = ''
  }
  yield piece + jsonLine({ kind: 'end', revision })
}
