import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../../src/primitives/free-ports.ts'
import { issueLeaf, makeRoot } from '../../src/x509/authority.ts'
import { cryptoKeysOf, makeKey } from '../../src/x509/key-pair.ts'

/**
 * A real ACME authority, Pebble, with its challenge test server as its DNS server, both on free ports of the
 * loopback. Every name leads to 127.0.0.1 until a test changes that. Certificates from Pebble are verified
 * with `root()`, its own TLS with `ca`: the two are independent.
 */
export interface Pebble {
  readonly directoryUrl: string
  /** The certificate that verifies the directory's own TLS, PEM, and the same as a file. */
  readonly ca: string
  readonly caFile: string
  /** The DNS server that Pebble asks, `address:port`, for clients that have to see the same names. */
  readonly resolver: string
  /** The ports on which Pebble checks challenges, at the addresses of the names. */
  readonly httpPort: number
  readonly tlsPort: number
  readonly dns: PebbleDns
  /** The root of the certificates that Pebble issues. Each start makes another one. */
  root(): Promise<string>
  /** Pebble's log since its last start. */
  said(): string
  /** Restarts Pebble on the same ports. It then knows no account and no order, and has another root. */
  restart(faults?: PebbleFaults): Promise<void>
  stop(): Promise<void>
}

export interface PebbleFaults {
  /** How many percent of good nonces are refused. Default 0. */
  readonly nonceReject?: number
  /** The longest wait before Pebble checks a challenge, in seconds. Default 0. */
  readonly sleepS?: number
  /** How many percent of valid authorizations are used for new orders too. Default 0. */
  readonly authorizationReuse?: number
  /** If set, Pebble accepts every challenge without a check. */
  readonly alwaysValid?: boolean
  /** How many chains Pebble offers in addition to the first. */
  readonly alternateRoots?: number
}

export interface PebbleOptions extends PebbleFaults {
  /** The ports for challenges. Absent: free ones. */
  readonly httpPort?: number
  readonly tlsPort?: number
  /** Key ids with their keys, base64url. Accounts without one of these keys are refused. */
  readonly externalAccounts?: Readonly<Record<string, string>>
}

/** Sets the DNS records of the test's names. An empty list removes records. */
export interface PebbleDns {
  setA(host: string, addresses: readonly string[]): Promise<void>
  setAaaa(host: string, addresses: readonly string[]): Promise<void>
  setCname(host: string, target: string): Promise<void>
  setCaa(host: string, policies: readonly { readonly tag: string; readonly value: string }[]): Promise<void>
  /** Makes the server fail questions for the name. */
  setServfail(host: string): Promise<void>
}

const startTimeoutMs = 20_000
const pollMs = 25
/** How often a start is tried: ports that were free a moment ago may be taken. */
const startAttempts = 3

export async function startPebble(options: PebbleOptions = {}): Promise<Pebble> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-pebble-'))
  const tls = await writeTls(directory)
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnFreePorts(directory, tls, options)
    } catch (error) {
      if (attempt < startAttempts) continue
      rmSync(directory, { recursive: true, force: true })
      throw error
    }
  }
}

async function startOnFreePorts(directory: string, ca: string, options: PebbleOptions): Promise<Pebble> {
  const [listen, management, dnsManagement] = [await freePort(), await freePort(), await freePort()]
  const httpPort = options.httpPort ?? (await freePort())
  const tlsPort = options.tlsPort ?? (await freePort())
  const resolver = `127.0.0.1:${await freeUdpPort()}`
  const configFile = path.join(directory, 'pebble.json')
  writeFileSync(
    configFile,
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${listen}`,
        managementListenAddress: `127.0.0.1:${management}`,
        certificate: path.join(directory, 'tls.crt'),
        privateKey: path.join(directory, 'tls.key'),
        httpPort,
        tlsPort,
        ocspResponderURL: '',
        externalAccountBindingRequired: options.externalAccounts !== undefined,
        externalAccountMACKeys: options.externalAccounts ?? {},
      },
    }),
  )
  const dnsServer = await startDns(resolver, dnsManagement)
  let said = ''
  const run = async (faults: PebbleFaults): Promise<ChildProcess> => {
    said = ''
    return startAuthority({ configFile, resolver, listen, ca, hear: (text) => (said += text) }, faults)
  }
  let authority: ChildProcess
  try {
    authority = await run(options)
  } catch (error) {
    await end(dnsServer)
    throw error
  }
  return {
    directoryUrl: `https://localhost:${listen}/dir`,
    ca,
    caFile: path.join(directory, 'ca.crt'),
    resolver,
    httpPort,
    tlsPort,
    dns: dnsOf(dnsManagement),
    root: async () => (await get(`https://localhost:${management}/roots/0`, ca)).body,
    said: () => said,
    async restart(faults = options) {
      await end(authority)
      authority = await run(faults)
    },
    async stop() {
      await Promise.all([end(authority), end(dnsServer)])
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Writes a certificate for `localhost` from an authority of its own. Returns that authority's certificate.
 */
async function writeTls(directory: string): Promise<string> {
  const nowMs = Date.now()
  const root = await makeRoot({ commonName: 'TLS of the test authority' }, nowMs)
  const key = makeKey()
  const chain = await issueLeaf(root, {
    names: ['localhost'],
    publicKey: cryptoKeysOf(key).publicKey,
    notBeforeMs: nowMs - 3_600_000,
    notAfterMs: nowMs + 86_400_000,
  })
  writeFileSync(path.join(directory, 'ca.crt'), root.chain)
  writeFileSync(path.join(directory, 'tls.crt'), chain)
  writeFileSync(path.join(directory, 'tls.key'), key)
  return root.chain
}

async function startDns(resolver: string, management: number): Promise<ChildProcess> {
  const child = spawn(
    '/usr/bin/pebble-challtestsrv',
    [
      `-dns01=${resolver}`,
      `-management=127.0.0.1:${management}`,
      '-http01=',
      '-https01=',
      '-tlsalpn01=',
      '-defaultIPv4=127.0.0.1',
      '-defaultIPv6=',
    ],
    { stdio: 'ignore' },
  )
  await answering(child, async () => {
    const response = await fetch(`http://127.0.0.1:${management}/clear-a`, {
      method: 'POST',
      body: '{"host":"x"}',
    })
    return response.ok
  })
  return child
}

async function startAuthority(
  place: {
    readonly configFile: string
    readonly resolver: string
    readonly listen: number
    readonly ca: string
    readonly hear: (text: string) => void
  },
  faults: PebbleFaults,
): Promise<ChildProcess> {
  const { nonceReject = 0, sleepS, authorizationReuse = 0, alwaysValid, alternateRoots } = faults
  const child = spawn('/usr/bin/pebble', ['-config', place.configFile, '-dnsserver', place.resolver], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PEBBLE_WFE_NONCEREJECT: String(nonceReject),
      PEBBLE_AUTHZREUSE: String(authorizationReuse),
      ...(sleepS === undefined ? { PEBBLE_VA_NOSLEEP: '1' } : { PEBBLE_VA_SLEEPTIME: String(sleepS) }),
      ...(alwaysValid && { PEBBLE_VA_ALWAYS_VALID: '1' }),
      ...(alternateRoots !== undefined && { PEBBLE_ALTERNATE_ROOTS: String(alternateRoots) }),
    },
  })
  child.stdout.setEncoding('utf8').on('data', place.hear)
  await answering(
    child,
    async () => (await get(`https://localhost:${place.listen}/dir`, place.ca)).status === 200,
  )
  return child
}

async function answering(child: ChildProcess, isThere: () => Promise<boolean>): Promise<void> {
  const untilMs = Date.now() + startTimeoutMs
  let last: unknown
  while (Date.now() < untilMs && child.exitCode === null && child.signalCode === null) {
    try {
      if (await isThere()) return
    } catch (error) {
      last = error
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  await end(child)
  throw new Error(`${child.spawnfile} did not start`, { cause: last })
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

function dnsOf(management: number): PebbleDns {
  const post = async (name: string, body: object): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${management}/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`the DNS test server answered ${response.status} for ${name}`)
  }
  // The server only adds records, so the present ones are removed first.
  const replace = async (kind: string, host: string, values: object, count: number): Promise<void> => {
    await post(`clear-${kind}`, { host })
    if (count > 0) await post(`add-${kind}`, { host, ...values })
  }
  return {
    setA: (host, addresses) => replace('a', host, { addresses }, addresses.length),
    setAaaa: (host, addresses) => replace('aaaa', host, { addresses }, addresses.length),
    setCname: (host, target) => post('set-cname', { host, target }),
    setCaa: (host, policies) => replace('caa', host, { policies }, policies.length),
    setServfail: (host) => post('set-servfail', { host }),
  }
}

async function get(url: string, ca: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    request(url, { ca, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
    })
      .on('error', reject)
      .end()
  })
}

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
