import { setTimeout as delay } from 'node:timers/promises'
import type { PublicNames } from './public-names.ts'
import type { Stack } from './stack.ts'
import { until } from './until.ts'

/** The variables of versions of `official/hello`. Each answers with the name of its version. */
export const version = {
  good: (name: string) => ({ GREETING: name }),
  silent: { SILENT: '1' },
  refusing: { GREETING: 'bad', STATUS: '500' },
  ending: (afterS: number) => ({ GREETING: 'bad', END_AFTER_S: String(afterS) }),
  leaking: (mbPerS: number) => ({ GREETING: 'bad', LEAK_MB_PER_S: String(mbPerS) }),
} as const

export interface VersionedService {
  readonly service: string
  readonly host: string
  readonly instances: readonly string[]
}

/** Makes a service of instances that answer with the name of their version. */
export async function publishVersion(
  stack: Stack,
  name: string,
  wishes: Readonly<Record<string, unknown>> & { readonly replicas?: number } = {},
): Promise<VersionedService> {
  const service = await stack.api.one('createServices', {
    body: {
      name,
      services: [{ port: 443, destination_port: 8080, handlers: ['http', 'tls'] }],
      domains: [{ name }],
    },
  })
  const made = await stack.api.call('createInstances', {
    body: {
      name,
      image: 'hello',
      env: version.good('one'),
      memory_mb: 128,
      autostart: true,
      wait_timeout_ms: 60_000,
      service_group: { uuid: service.uuid },
      ...wishes,
    },
  })
  const host = service.domains[0]?.fqdn
  if (host === undefined) throw new Error(`${name} has no public name`)
  return { service: service.uuid, host, instances: made.map(({ uuid }) => uuid) }
}

/** Waits until the newest rollout of a service is in one of the phases. */
export async function untilPhase(stack: Stack, service: string, ...phases: readonly string[]) {
  return until(
    `the rollout is ${phases.join(' or ')}`,
    async () => {
      const { rollouts } = await stack.api.one('getRollouts', { object: service })
      const [newest] = rollouts
      return newest !== undefined && phases.includes(newest.phase) && newest
    },
    { limitMs: phaseLimitMs },
  )
}

/** Deletes a service with its instances, and the old ones that its rollouts keep. */
export async function removeVersions(stack: Stack, service: string): Promise<void> {
  const { instances = [] } = await stack.api.one('getServices', { object: service })
  const { rollouts } = await stack.api.one('getRollouts', { object: service })
  const kept = rollouts.flatMap(({ old_instances: old = [] }) => old)
  for (const { uuid } of [...instances, ...kept]) await stack.api.one('deleteInstances', { object: uuid })
  await stack.api.one('deleteServices', { object: service })
}

/** Requests at a pace of their own, whatever the answers. */
export interface VersionTraffic {
  /** How many requests each version answered since `forget`. */
  readonly answers: Readonly<Record<string, number>>
  forget(): void
  /** Ends the traffic, waits for the answers that are due, and returns the requests that failed. */
  end(): Promise<readonly string[]>
}

const phaseLimitMs = 120_000
const defaultPerSecond = 50
/** The first ones are enough. */
const failuresKept = 20

export interface TrafficOptions {
  /** How many requests are sent each second. Default 50. */
  readonly perSecond?: number
  readonly onAnswer?: (answer: VersionAnswer) => void
}

export interface VersionAnswer {
  readonly version: string
  /** When the request was sent, on the clock of `Date.now`. */
  readonly sentMs: number
  readonly tookMs: number
}

export function sendTraffic(
  names: PublicNames,
  host: string,
  { perSecond = defaultPerSecond, onAnswer }: TrafficOptions = {},
): VersionTraffic {
  let counts: Record<string, number> = {}
  const failed: string[] = []
  const open = new Set<Promise<void>>()
  let isOver = false
  const ask = async (): Promise<void> => {
    const beganMs = performance.now()
    const sentMs = Date.now()
    try {
      const { status, text } = await names.get(`https://${host}/`)
      if (status !== 200) throw new Error(`${status} ${/<p>(.*?)<\/p>/.exec(text)?.[1] ?? text}`)
      const version = text.trim()
      counts[version] = (counts[version] ?? 0) + 1
      onAnswer?.({ version, sentMs, tookMs: performance.now() - beganMs })
    } catch (error) {
      const ms = Math.round(performance.now() - beganMs)
      if (failed.length < failuresKept)
        failed.push(`${new Date(sentMs).toISOString()} ${String(error)} after ${ms} ms`)
    }
  }
  const flowing = (async () => {
    const startedMs = performance.now()
    for (let sent = 0; !isOver && !names.isClosed; await delay(10)) {
      const due = ((performance.now() - startedMs) * perSecond) / 1_000
      for (; sent < due; sent++) {
        const one = ask().finally(() => open.delete(one))
        open.add(one)
      }
    }
  })()
  return {
    get answers() {
      return counts
    },
    forget() {
      counts = {}
    },
    async end() {
      isOver = true
      await flowing
      await Promise.all(open)
      return failed
    },
  }
}
