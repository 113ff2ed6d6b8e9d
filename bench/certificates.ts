import { setTimeout as delay } from 'node:timers/promises'
import { linesOf } from './certificates/certificate-lines.ts'
import { startFeedGateway } from './certificates/feed-gateway.ts'
import type { FeedGateway } from './certificates/feed-gateway.ts'
import { HandshakeClient } from './certificates/handshake-client.ts'
import { describeTimes, timeHandshakes, untilShown } from './certificates/handshake-times.ts'
import { nameOf, openQuickIssuer, placeOf } from './certificates/quick-issuer.ts'
import type { IssuedCertificate, QuickIssuer } from './certificates/quick-issuer.ts'
import { swapUnderLoad } from './certificates/swaps.ts'
import { proportionalBytes, residentBytes } from './memory.ts'
import { inMb, inMs } from './report.ts'
import type { Finding, Section } from './report.ts'

const certificates = 10_000
const handshakes = 500
/**
 * The number of names for which handshakes are made in a random order. It is more than the gateway keeps
 * contexts for, so that its memory reaches its final size.
 */
const randomNames = 1_500
const warmUps = 200
const pollMs = 5
const settleMs = 3_000

/**
 * Measures the gateway's own process with as many certificates as the largest planned stack has. All traffic
 * stays on the loopback.
 */
export async function benchCertificates(): Promise<Section> {
  const issuer = await openQuickIssuer()
  const all = Array.from({ length: certificates }, (_, index) => issuer.issue(index))
  const gateway = await startFeedGateway()
  try {
    const findings = await measure(gateway, issuer, all)
    return { title: `certificates: ${certificates} in one gateway`, findings }
  } finally {
    await gateway.stop()
  }
}

async function measure(
  gateway: FeedGateway,
  issuer: QuickIssuer,
  all: readonly IssuedCertificate[],
): Promise<readonly Finding[]> {
  const client = new HandshakeClient({ port: gateway.port, root: issuer.root })
  const sameName = Array.from({ length: handshakes }, () => nameOf(0))
  await tell(gateway, client, all.slice(0, 1))
  await timeHandshakes(client, sameName.slice(0, warmUps))
  const alone = await timeHandshakes(client, sameName)
  const few = await memoryOf(gateway)
  const loadMs = await tell(gateway, client, all)
  const loaded = await memoryOf(gateway)
  const among = await timeHandshakes(client, sameName)
  const random = Array.from({ length: certificates }, (_, index) => index)
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .slice(0, randomNames)
  const each = await timeHandshakes(client, random.map(nameOf))
  const asked = await memoryOf(gateway)
  const held = await gateway.metric('roost_gateway_tls_contexts')
  const describeMemory = (of: keyof typeof few): Finding => ({
    what: `memory of all processes of the gateway, ${of}`,
    figure: `${inMb(few[of])} with 1, ${inMb(loaded[of])} with all, ${inMb(asked[of])} after handshakes with ${randomNames} of them (${held} contexts held)`,
  })
  return [
    { what: 'telling all, until the last is shown', figure: inMs(loadMs) },
    describeMemory('resident'),
    describeMemory('proportional'),
    ...describeTimes('1 certificate', alone),
    ...describeTimes(`the same name among ${certificates}`, among),
    ...describeTimes('each time another name among them', each),
    ...(await swapUnderLoad(gateway, issuer, client)),
  ]
}

/** Sends all certificates in one block of the feed. Resolves with the time until the last one was shown. */
async function tell(
  gateway: FeedGateway,
  client: HandshakeClient,
  all: readonly IssuedCertificate[],
): Promise<number> {
  const last = all.at(-1)
  if (last === undefined) return 0
  const startedMs = performance.now()
  await gateway.tell(linesOf(all))
  // Until the gateway has the certificate, handshakes for its name fail.
  await untilShown(last, (name) => client.shake(name).catch(() => undefined), pollMs)
  return performance.now() - startedMs
}

async function memoryOf(gateway: FeedGateway) {
  await delay(settleMs)
  const sum = (of: (pid: number) => number) => gateway.pids().reduce((all, pid) => all + of(pid), 0)
  return { resident: sum(residentBytes), proportional: sum(proportionalBytes) }
}
