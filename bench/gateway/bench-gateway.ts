import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { testCertificate } from '../../test/support/gateway-http-certificate.ts'
import { median } from '../load.ts'
import type { Finding, Section } from '../report.ts'
import { bytesPerIdleConnection, idleConnections } from './idle-connections.ts'
import { loadByH2load, loadByOpenssl, loadByWrk, seconds } from './load-tools.ts'
import type { WebLoad } from './load-tools.ts'
import { processorSeconds } from './processor-time.ts'
import type { Proxy, ProxyPlan } from './proxy.ts'
import { startCaddy, startHaproxy, startNginx } from './reference-proxies.ts'
import { startRoost } from './roost.ts'
import { startUpstreams } from './upstreams.ts'
import type { Upstreams } from './upstreams.ts'

/**
 * The number of rounds. Each round measures all proxies one after another, so that other work on the machine
 * slows all of them.
 */
const rounds = 5
/**
 * The number of rounds that do not count. After them a process is in the state that it has after hours of
 * work, with its code compiled.
 */
const warmUpRounds = 2
const connections = 64
const http2 = { connections: 16, streams: 8 } as const
const tcpConnections = 4
const bodyConnections = 4

const Kind = {
  Plain: 'HTTP/1.1',
  Tls: 'HTTP/1.1 over TLS',
  Http2: 'HTTP/2',
  Tcp: 'TCP through TLS',
  Body1: 'answers of 1 MiB',
  Body100: 'answers of 100 MiB',
  Upload1: 'requests of 1 MiB',
  Upload100: 'requests of 100 MiB',
} as const
type Kind = (typeof Kind)[keyof typeof Kind]

const aims: readonly { readonly kind: Kind; readonly than: string; readonly ratio: number }[] = [
  { kind: Kind.Plain, than: 'Caddy', ratio: 3 },
  { kind: Kind.Plain, than: 'HAProxy', ratio: 0.65 },
  { kind: Kind.Tls, than: 'Caddy', ratio: 2.5 },
  { kind: Kind.Tls, than: 'HAProxy', ratio: 0.65 },
  { kind: Kind.Http2, than: 'HAProxy', ratio: 0.55 },
  { kind: Kind.Tcp, than: 'HAProxy', ratio: 0.8 },
  { kind: Kind.Body1, than: 'HAProxy', ratio: 0.8 },
  { kind: Kind.Body100, than: 'HAProxy', ratio: 0.8 },
  { kind: Kind.Upload1, than: 'HAProxy', ratio: 0.8 },
  { kind: Kind.Upload100, than: 'HAProxy', ratio: 0.8 },
]
const aimAddedUs = 60
/** The kinds with large bodies: their size, and whether the client sends them. */
const bodyKinds: ReadonlyMap<Kind, { readonly mebibytes: number; readonly sent: boolean }> = new Map([
  [Kind.Body1, { mebibytes: 1, sent: false }],
  [Kind.Body100, { mebibytes: 100, sent: false }],
  [Kind.Upload1, { mebibytes: 1, sent: true }],
  [Kind.Upload100, { mebibytes: 100, sent: true }],
])
/** The kinds whose figures are bytes. */
const inBytes: ReadonlySet<Kind> = new Set([Kind.Tcp, ...bodyKinds.keys()])

/** The figures of one proxy and one kind in one round. They count requests, or for TCP bytes. */
interface Measured {
  readonly perSecond: number
  /** The processor time for each request or megabyte. Other processes on the same cores hardly change it. */
  readonly costUs: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** The number of requests that got no good answer. Roost has none: the measurement ends at the first. */
  readonly failed?: number
}
/** The memory for an idle connection, by proxy. */
type IdleBytes = Map<string, number>
type Results = Map<string, Measured[]>
/** What each proxy adds to the latency at p50, in µs, for each round. */
type Added = Map<string, number[]>

/**
 * Compares Roost's gateway with well-known proxies before the same upstreams. Each has one process and one
 * core. `root` is the directory into which set-up extracted the proxies and the tools that make load.
 */
export async function benchGateway(root: string): Promise<Section> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-bench-gateway-'))
  const running: { stop(): void | Promise<void> }[] = []
  try {
    const upstreams = await startUpstreams(root, directory)
    running.push(upstreams)
    const plan: ProxyPlan = { directory, upstream: upstreams, certificate: await certificateIn(directory) }
    const proxies: Proxy[] = []
    for (const start of [
      startRoost,
      ...[startHaproxy, startNginx, startCaddy].map((one) => one.bind(null, root)),
    ]) {
      const proxy = await start(plan)
      running.push(proxy)
      proxies.push(proxy)
    }
    // Before any load: later a process has memory left that it would use for the connections.
    const idleBytes: IdleBytes = new Map()
    for (const proxy of proxies) idleBytes.set(proxy.name, await bytesPerIdleConnection(proxy))
    const results: Results = new Map()
    const added: Added = new Map(proxies.map(({ name }) => [name, []]))
    for (let round = -warmUpRounds; round < rounds; round++) {
      if (round === 0) results.clear()
      for (const kind of Object.values(Kind)) {
        for (const proxy of proxies) await measure({ kind, proxy, root, directory, results })
      }
      if (round < 0) continue
      for (const proxy of proxies) added.get(proxy.name)?.push(await addedLatencyUs(proxy, upstreams))
    }
    return report({ results, names: proxies.map(({ name }) => name), added, idleBytes })
  } finally {
    for (const one of running.toReversed()) await one.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function certificateIn(directory: string): Promise<ProxyPlan['certificate']> {
  const { cert, key } = await testCertificate()
  const write = (name: string, text: string): string => {
    const file = path.join(directory, name)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  return {
    both: write('both.pem', `${cert}\n${key}`),
    chain: write('chain.pem', cert),
    key: write('key.pem', key),
  }
}

async function measure(what: {
  readonly kind: Kind
  readonly proxy: Proxy
  readonly root: string
  readonly directory: string
  readonly results: Results
}): Promise<void> {
  const { kind, proxy, results } = what
  const usedBefore = processorSeconds(proxy.pid)
  const loaded = await load(kind, proxy, what)
  if (loaded === undefined) return
  const amount = loaded.perSecond * seconds * (inBytes.has(kind) ? 1e-6 : 1)
  const costUs = ((processorSeconds(proxy.pid) - usedBefore) * 1e6) / amount
  const measured = { ...loaded, costUs }
  const key = `${kind} ${proxy.name}`
  results.set(key, [...(results.get(key) ?? []), measured])
}

/** Loads a proxy with requests of one kind. Resolves to undefined if the proxy does not support the kind. */
async function load(
  kind: Kind,
  { name, ports }: Proxy,
  { root, directory }: { readonly root: string; readonly directory: string },
): Promise<Omit<Measured, 'costUs'> | undefined> {
  if (kind === Kind.Tcp) {
    return ports.tcp === undefined ? undefined : { perSecond: await loadByOpenssl(ports.tcp, tcpConnections) }
  }
  if (bodyKinds.has(kind)) {
    return ports.bodies === undefined ? undefined : await loadBodies(kind, ports.bodies, directory)
  }
  // Clients send no server name for an IP address, and some proxies need one, so the URL has a name.
  const secure = `https://localhost:${ports.https}/`
  const found: WebLoad =
    kind === Kind.Http2
      ? await loadByH2load(root, secure, http2)
      : await loadByWrk(kind === Kind.Tls ? secure : `http://127.0.0.1:${ports.http}/`, connections)
  // Another proxy may fail some of a hundred thousand requests, which is told with its figures.
  if ((found.failed > 0 && name === 'Roost') || !(found.perSecond > 0)) {
    throw new Error(`${name}, ${kind}: ${found.failed} requests failed, ${found.perSecond} per second`)
  }
  return found
}

async function loadBodies(kind: Kind, port: number, directory: string): Promise<Omit<Measured, 'costUs'>> {
  const { mebibytes, sent } = bodyKinds.get(kind)!
  const url = `http://127.0.0.1:${port}/${sent ? 'taken' : mebibytes}`
  const script = sent ? wrkScript(directory, mebibytes) : undefined
  const found = await loadByWrk(url, bodyConnections, script === undefined ? {} : { script })
  if (found.failed > 0) throw new Error(`${kind}: ${found.failed} requests failed`)
  return { perSecond: sent ? found.perSecond * mebibytes * 2 ** 20 : (found.bytesPerSecond ?? 0) }
}

/** Writes the file that has wrk send bodies of this size, and returns its path. */
function wrkScript(directory: string, mebibytes: number): string {
  const file = path.join(directory, `send-${mebibytes}.lua`)
  writeFileSync(file, `wrk.method = "POST"\nwrk.body = string.rep("x", ${mebibytes << 20})\n`)
  return file
}

/** Measures what a proxy adds to a request when nothing else is under way. */
async function addedLatencyUs({ ports }: Proxy, upstreams: Upstreams): Promise<number> {
  const direct = await loadByWrk(`http://127.0.0.1:${upstreams.http}/`, 1)
  const through = await loadByWrk(`http://127.0.0.1:${ports.http}/`, 1)
  return (through.p50Ms - direct.p50Ms) * 1_000
}

function report(found: {
  readonly results: Results
  readonly names: readonly string[]
  readonly added: Added
  readonly idleBytes: IdleBytes
}): Section {
  const { results, names, added } = found
  const findings: Finding[] = []
  for (const kind of Object.values(Kind)) {
    const ours = results.get(`${kind} ${names[0]}`) ?? []
    for (const name of names) {
      const theirs = results.get(`${kind} ${name}`)
      if (theirs === undefined) continue
      const aim = aims.find((one) => one.kind === kind && one.than === name)
      const ratio = median(ours.map(({ perSecond }, round) => perSecond / (theirs[round]?.perSecond ?? 0)))
      const cost = median(ours.map(({ costUs }, round) => (theirs[round]?.costUs ?? 0) / costUs))
      const compared =
        name === names[0]
          ? ''
          : `   Roost / ${name} ${ratio.toFixed(2)}, by processor time ${cost.toFixed(2)}`
      findings.push({
        what: `${kind}: ${name}`,
        figure: `${describe(kind, theirs)}${compared}`,
        ...(aim === undefined ? {} : { aim: `at least ${aim.ratio}` }),
      })
    }
  }
  for (const [name, addedUs] of added) {
    findings.push({
      what: `added at p50, one connection of HTTP/1.1: ${name}`,
      figure: `${median(addedUs).toFixed(0)} µs`,
      ...(name === names[0] ? { aim: `below ${aimAddedUs} µs` } : {}),
    })
  }
  for (const [name, bytes] of found.idleBytes) {
    findings.push({
      what: `memory for each of ${idleConnections} idle connections of HTTP/1.1: ${name}`,
      figure: `${(bytes / 1_024).toFixed(1)} KiB`,
    })
  }
  return {
    title: `gateway: medians of ${rounds} rounds, one core each; ${connections} connections of HTTP/1.1, ${http2.connections} of HTTP/2 with ${http2.streams} streams, ${tcpConnections} of TCP, ${bodyConnections} of large bodies`,
    findings,
  }
}

function describe(kind: Kind, rows: readonly Measured[]): string {
  const perSecond = median(rows.map((row) => row.perSecond))
  const cost = `${median(rows.map(({ costUs }) => costUs)).toFixed(0)} µs`
  if (inBytes.has(kind)) return `${(perSecond / 1e6).toFixed(0).padStart(6)} MB/s, ${cost} each`.padEnd(52)
  const ms = (of: 'p50Ms' | 'p99Ms') => `${median(rows.map((row) => row[of] ?? Number.NaN)).toFixed(2)} ms`
  const failed = rows.reduce((sum, row) => sum + (row.failed ?? 0), 0)
  const latency = `p50 ${ms('p50Ms')}, p99 ${ms('p99Ms')}${failed === 0 ? '' : `, ${failed} failed`}`
  return `${perSecond.toFixed(0).padStart(6)}/s, ${cost} each   ${latency}`.padEnd(52)
}
