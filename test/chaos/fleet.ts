import { autoscale, publishMaster } from '../support/autoscaled-service.ts'
import type { AutoscaledService } from '../support/autoscaled-service.ts'
import { publish } from '../support/published-instance.ts'
import type { Published } from '../support/published-instance.ts'
import { always } from '../support/autoscaled-service.ts'
import type { ChaosScene } from './chaos-scene.ts'
import { ledgerAt, ledgerGuest, ledgerPort } from './ledger-guest.ts'

/** The ledgers of a run. What is lost with a VM begins again by its restart policy. */
const ledgers = {
  plain: {},
  disk: { volumes: [{ size_mb: 32, at: ledgerAt }] },
  warm: { scale_to_zero: { policy: 'on', cooldown_time_ms: 1_000, stateful: true } },
  cold: { scale_to_zero: { policy: 'on', cooldown_time_ms: 1_000 } },
} as const
export type LedgerName = keyof typeof ledgers
export const ledgerNames = Object.keys(ledgers) as readonly LedgerName[]

export interface Member {
  readonly name: string
  readonly uuid: string
  readonly publicName: string
  readonly hasVolume: boolean
}

/** All that a run has from its beginning. */
export interface Fleet {
  readonly ledgers: Readonly<Record<LedgerName, Member>>
  /** The counter whose connections stay open. */
  readonly talker: Published
  readonly scaled: AutoscaledService
}

const startLimitMs = 60_000

export async function beginFleet({ stack }: Pick<ChaosScene, 'stack'>): Promise<Fleet> {
  const made: Partial<Record<LedgerName, Member>> = {}
  for (const name of ledgerNames) made[name] = await beginLedger(stack, name)
  const talker = await publish(stack, 'talker', { restart_policy: 'always' })
  const scaled = await publishMaster(stack, 'scaled', { restart_policy: 'always' })
  await autoscale(stack, scaled, {
    min_size: 1,
    max_size: 3,
    warmup_time_ms: 1_000,
    cooldown_time_ms: 1_000,
    policies: [always(1)],
  })
  return { ledgers: made as Record<LedgerName, Member>, talker, scaled }
}

async function beginLedger(stack: ChaosScene['stack'], name: LedgerName): Promise<Member> {
  const created = await stack.api.one('createInstances', {
    body: {
      name,
      ...ledgerGuest,
      ...ledgers[name],
      restart_policy: 'always',
      autostart: true,
      wait_timeout_ms: startLimitMs,
      service_group: {
        services: [{ port: 443, destination_port: ledgerPort, handlers: ['http', 'tls'] }],
        domains: [{ name }],
      },
    },
  })
  const publicName = created.service_group?.domains[0]?.fqdn
  if (publicName === undefined) throw new Error(`${name} has no public name`)
  return { name, uuid: created.uuid, publicName, hasVolume: 'volumes' in ledgers[name] }
}
