import type { RouteRollout } from '../../src/domain/service/route-feed.ts'
import type { Ask } from '../../src/gateway/traffic.ts'
import { BalanceScene } from './balance-scene.ts'
import type { FakeLeaseServer } from './fake-lease-server.ts'

export type ToldInstances = Parameters<BalanceScene['tell']>[0]

export const next = { isNext: true } as const
/** One instance of each version. */
export const oldAndNew: ToldInstances = [
  ['old', 'running'],
  ['new', 'running', next],
]

export function rollout(percent: number, held = false): RouteRollout {
  return { uuid: 'rollout-1', percent, held }
}

/** A service to which a rollout brings a new version. */
export class RolloutScene extends BalanceScene<FakeLeaseServer> {
  /** Changes the rollout; undefined ends it. */
  change(to: RouteRollout | undefined, instances: ToldInstances = oldAndNew): void {
    const { rollout: _, ...service } = this.service
    this.service = { ...service, ...(to === undefined ? {} : { rollout: to }) }
    this.tell(instances)
  }

  /** How many of so many requests, one after the other, each instance gets. */
  async takers(count: number, over: Partial<Ask> = {}): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (let each = 0; each < count; each++) {
      const admission = await this.admission(over)
      counts[admission.instanceUuid] = (counts[admission.instanceUuid] ?? 0) + 1
      admission.done()
    }
    return counts
  }

  /** The instances whose lease was asked for. */
  get opened(): readonly string[] {
    return [...new Set(this.host.all('open').map(({ instance }) => instance))]
  }
}
