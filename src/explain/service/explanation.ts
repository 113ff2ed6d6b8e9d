import type { Database } from '../../db/database.ts'
import { absentHosts } from '../../db/host/administration.ts'
import { scaleToZeroOf } from '../../db/instance/row.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { readRolloutFacts } from '../../db/rollout/facts.ts'
import { listRollouts } from '../../db/rollout/records.ts'
import type { ServiceRow } from '../../db/service/row.ts'
import type { RolloutFacts } from '../../domain/rollout/decision.ts'
import { isEnded } from '../../domain/rollout/phase.ts'
import { explainService } from '../../domain/service/explanation.ts'
import type { ServiceExplanation, ServingInstance } from '../../domain/service/explanation.ts'
import { mayStandBy } from '../../domain/standby/scale-to-zero.ts'
import { explanationText, point } from '../explanation-text.ts'

/** Explains a service by its row and those of its instances. */
export async function serviceExplanation(
  database: Database,
  { uuid, name, softLimit, ports, domains }: ServiceRow,
  instances: readonly InstanceRow[],
): Promise<ServiceExplanation> {
  const [absent, rollout] = await Promise.all([
    absentHosts(
      database,
      instances.map(({ nodeId }) => nodeId),
    ),
    presentRollout(database, uuid),
  ])
  return explainService({
    name,
    softLimit,
    ports,
    domains: domains.map(({ fqdn, certificate }) => ({
      fqdn,
      ...(certificate === null ? {} : { certificate }),
    })),
    instances: instances.map((row) => ({
      ...servingInstance(row, absent.get(row.nodeId)?.heardAt),
      // An instance that was given back after its rollout is not new any more.
      ...(rollout && row.rolloutUuid !== null && { isNew: true }),
    })),
    ...(rollout && { rollout }),
  })
}

/** The rollout of a service that is not over. Only the newest one can be. */
async function presentRollout(database: Database, serviceUuid: string): Promise<RolloutFacts | undefined> {
  const [newest] = await listRollouts(database, serviceUuid, 1)
  if (newest === undefined || isEnded(newest.phase)) return undefined
  return (await readRolloutFacts(database, newest.uuid))?.facts
}

function servingInstance(row: InstanceRow, hostSilentSince: Date | undefined): ServingInstance {
  const { name, nodeId, state, failure, restartNextAt } = row
  return {
    name,
    nodeId,
    state,
    mayStandBy: mayStandBy(scaleToZeroOf(row)),
    ...(failure === null ? {} : { failure }),
    ...(restartNextAt === null ? {} : { restartAtMs: restartNextAt.getTime() }),
    ...(hostSilentSince === undefined ? {} : { hostSilentSinceMs: hostSilentSince.getTime() }),
  }
}

export function serviceText(explanation: ServiceExplanation): string {
  const { ports, domains, instances, rollout } = explanation
  const lines = [
    ...(rollout === undefined ? [] : ['its rollout:', point(rollout.now), point(`next: ${rollout.next}`)]),
    ...list('its names:', domains, ({ fqdn, does }) => `${fqdn} ${does}`),
    ...list('its ports:', ports, ({ port, does }) => `${port}: ${does}`),
    ...list('its instances:', instances, ({ name, does }) => `${name} ${does}`),
  ]
  return [explanationText(explanation), ...lines].join('\n')
}

function list<Item>(head: string, items: readonly Item[], textOf: (item: Item) => string): readonly string[] {
  return items.length === 0 ? [] : [head, ...items.map((item) => point(textOf(item)))]
}
