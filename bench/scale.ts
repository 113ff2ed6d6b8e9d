import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { followRoutes } from '../src/gateway/feed-client.ts'
import { RouteTable } from '../src/gateway/route-table.ts'
import type { RouteLine } from '../src/domain/service/route-feed.ts'
import { familyOf } from '../test/support/processes.ts'
import { openPublicNames } from '../test/support/public-names.ts'
import type { PublicNames } from '../test/support/public-names.ts'
import type { Stack } from '../test/support/stack.ts'
import { quantile } from './load.ts'
import { proportionalBytes, residentBytes } from './memory.ts'
import { inMb, inMs } from './report.ts'
import type { Section } from './report.ts'
import { seedAccount, withDatabase } from './seed.ts'
import { readRows } from '../test/support/rows.ts'

const services = 2_000
const instances = 10_000
const changes = 21
const lookUps = 1_000_000
const pollMs = 1
const changeLimitMs = 30_000
/** The pause after a change. In it processes free memory that they needed only for the change. */
const settleMs = 5_000
const metroDomain = 'roost.localhost'

/**
 * Measures a table of routes that is as large as that of the largest planned stack. The API sends it over
 * its real feed.
 */
export async function benchScale(stack: Stack, image: string): Promise<Section> {
  const names = openPublicNames(stack)
  try {
    await delay(settleMs)
    const before = memoryOf(stack)
    const account = await seedAccount(stack, { name: 'scale', image, instances, tokens: 1 })
    const published = performance.now()
    const last = await publishAll(stack, account.uuids)
    await untilVisible(names, last)
    const publishedMs = performance.now() - published
    await delay(settleMs)
    const after = memoryOf(stack)
    const snapshot = await readSnapshot(stack)
    const changedMs = await changeOneByOne(stack, names)
    const change = (of: (one: Memory) => number): string =>
      `${inMb(of(before))} before, ${inMb(of(after))} after`
    return {
      title: `scale: ${services} services with ${instances} instances`,
      findings: [
        { what: 'memory of the gateway, resident', figure: change(({ gateway }) => gateway) },
        { what: 'memory of the gateway, proportional', figure: change(({ gatewayOwn }) => gatewayOwn) },
        { what: 'memory of the API, resident', figure: change(({ api }) => api) },
        { what: 'attaching all at once, until the gateway serves the last', figure: inMs(publishedMs) },
        { what: 'getting the whole table, and applying it', figure: snapshot.figure },
        { what: 'of which applying it', figure: inMs(snapshot.applyMs) },
        { what: 'looking up the service of a name', figure: `${snapshot.lookUpNs.toFixed(0)} ns` },
        {
          what: `creating one more service through the API, until the gateway serves it (${changes})`,
          figure: `p50 ${inMs(quantile(changedMs, 0.5))}, p99 ${inMs(quantile(changedMs, 0.99))}`,
        },
      ],
    }
  } finally {
    await names.close()
  }
}

interface Memory {
  readonly gateway: number
  readonly gatewayOwn: number
  readonly api: number
}

function memoryOf(stack: Stack): Memory {
  const gateway = familyOf(stack.pidOf('gateway'))
  const sum = (of: (pid: number) => number) => gateway.reduce((all, pid) => all + of(pid), 0)
  return {
    gateway: sum(residentBytes),
    gatewayOwn: sum(proportionalBytes),
    api: residentBytes(stack.pidOf('api')),
  }
}

/**
 * Publishes all instances in one transaction, so that the feed sends them in one block. Returns a name of
 * the metro domain.
 */
async function publishAll(stack: Stack, uuids: readonly string[]): Promise<string> {
  const ports = [
    { port: 443, destinationPort: 8080, handlers: ['tls', 'http'] },
    { port: 80, destinationPort: 443, handlers: ['http', 'redirect'] },
  ]
  await withDatabase(stack, async ({ database }) => {
    await readRows(database, {
      text: `with made as (
          insert into services (uuid, user_uuid, name, persistent, soft_limit, hard_limit, ports)
          select gen_random_uuid(), (select user_uuid from instances where uuid = $1::uuid),
            'scale-' || number, true, 100, 1000, $2::jsonb
          from generate_series(0, $3::int - 1) as number
          returning uuid, name
        ), named as (
          insert into domains (fqdn, service_uuid, ordinal) select name || '.${metroDomain}', uuid, 0 from made
        )
        update instances set service_uuid = made.uuid
        from unnest($4::uuid[]) with ordinality as each (uuid, number), made
        where instances.uuid = each.uuid and made.name = 'scale-' || (each.number % $3)`,
      values: [uuids[0], JSON.stringify(ports), services, uuids],
    })
  })
  return `scale-${services - 1}.${metroDomain}`
}

/** Waits until the gateway serves the name. It asks for a redirection, which needs no instance. */
async function untilVisible(names: PublicNames, host: string): Promise<void> {
  const deadlineMs = performance.now() + changeLimitMs
  for (;;) {
    const { status } = await names.get(`http://${host}/`)
    if (status === 308) return
    if (performance.now() > deadlineMs) throw new Error(`${host} is not served; it answers ${status}`)
    await delay(pollMs)
  }
}

/** Reads the feed in the way of a gateway that has no routes yet. */
async function readSnapshot(stack: Stack) {
  const table = new RouteTable()
  const lines: RouteLine[] = []
  const token = readFileSync(path.join(stack.dataDir, 'keys', 'gateway-token'), 'utf8').trim()
  const startedMs = performance.now()
  let applyMs = 0
  const took = await new Promise<number>((resolve) => {
    const sink = {
      revision: undefined,
      apply: (line: RouteLine) => {
        lines.push(line)
        const appliedMs = performance.now()
        table.apply(line)
        applyMs += performance.now() - appliedMs
        if (line.kind === 'end') resolve(performance.now() - startedMs)
      },
    }
    const feed = followRoutes({ apiUrl: stack.apiUrl, headers: { authorization: `Bearer ${token}` }, sink })
    void new Promise<void>((done) => table.onChange(() => done())).then(() => feed.stop())
  })
  const bytes = lines.reduce((sum, line) => sum + JSON.stringify(line).length + 1, 0)
  const count = (kind: RouteLine['kind']): number => lines.filter((line) => line.kind === kind).length
  if (count('instance') < instances) throw new Error(`only ${count('instance')} instances were told`)
  return {
    applyMs,
    lookUpNs: lookUpNs(table),
    figure: `${inMs(took)} (${count('service')} services, ${count('instance')} instances, ${inMb(bytes)})`,
  }
}

function lookUpNs(table: RouteTable): number {
  const hosts = Array.from({ length: services }, (_, index) => `scale-${index}.${metroDomain}`)
  const round = (): number => {
    let found = 0
    const startedMs = performance.now()
    for (let index = 0; index < lookUps; index++) {
      if (table.serviceOf(hosts[(index * 7_919) % services] ?? '') !== undefined) found += 1
    }
    const tookMs = performance.now() - startedMs
    if (found !== lookUps) throw new Error('a service was not found')
    return (tookMs * 1e6) / lookUps
  }
  round()
  return round()
}

async function changeOneByOne(stack: Stack, names: PublicNames): Promise<number[]> {
  const tookMs: number[] = []
  for (let index = 0; index < changes; index++) {
    const ports = [
      { port: 443, destination_port: 8080, handlers: ['tls', 'http'] },
      { port: 80, destination_port: 443, handlers: ['http', 'redirect'] },
    ]
    const startedMs = performance.now()
    const made = await stack.api.one('createServices', { body: { name: `change-${index}`, services: ports } })
    const host = made.domains[0]?.fqdn.replace(/\.$/, '') ?? ''
    await untilVisible(names, host)
    tookMs.push(performance.now() - startedMs)
  }
  return tookMs
}
