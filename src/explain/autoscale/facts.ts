import type { SeenAutoscale } from '../../control/autoscale-control.ts'
import { lastDecisions } from '../../db/autoscale/decisions.ts'
import { readAutoscaleMembers } from '../../db/autoscale/records.ts'
import type { OwnedAutoscale } from '../../db/autoscale/search.ts'
import type { Database } from '../../db/database.ts'
import { explainDecision } from '../../domain/autoscale/explanation.ts'
import { failureOf, sizeOf, standingOf } from '../../domain/autoscale/members.ts'
import type { AutoscaleMember, Standing } from '../../domain/autoscale/members.ts'
import { Configured, explainSituation } from '../../domain/autoscale/situation.ts'
import type { AutoscaleView } from '../../domain/autoscale/watch.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'

/** Everything that is said about how a service is scaled. */
export interface AutoscaleFacts extends Explanation, Pick<OwnedAutoscale, 'serviceUuid' | 'serviceName'> {
  readonly configured: Configured
  readonly configuration: OwnedAutoscale['configuration']
  readonly size: number
  readonly target: number | null
  readonly members: readonly ExplainedMember[]
  /** The names of clones that were given back and still exist. */
  readonly leaving: readonly string[]
  /** What the watch observed last. */
  readonly view?: AutoscaleView
  /** The decisions, the newest first. */
  readonly decisions: readonly { readonly at: string; readonly what: string }[]
}

export interface ExplainedMember extends Pick<
  AutoscaleMember,
  'uuid' | 'name' | 'isMaster' | 'nodeId' | 'state'
> {
  readonly standing: Standing
  /** Why the member is to be replaced. */
  readonly failure?: string
}

/** The most decisions that are shown; the database has more. */
const toldDecisions = 10

export async function autoscaleFacts(
  database: Database,
  of: { readonly service: OwnedAutoscale; readonly seen?: SeenAutoscale; readonly nowMs: number },
): Promise<AutoscaleFacts> {
  const { service, seen, nowMs } = of
  const { serviceUuid, serviceName, configuration, deletedAt, target, leaving } = service
  const members = await explainedMembers(database, serviceUuid, nowMs)
  const decisions = await lastDecisions(database, serviceUuid, toldDecisions)
  const configured = configuredOf(service)
  const explanation = explainSituation(
    {
      name: serviceName,
      configured,
      leaving,
      ...(seen && { seen }),
    },
    nowMs,
  )
  return {
    serviceUuid,
    serviceName,
    configured,
    ...explanation,
    configuration: deletedAt === null ? configuration : null,
    size: sizeOf(members),
    target: deletedAt === null ? (seen?.life.target ?? target) : null,
    members,
    leaving,
    ...(seen?.view && { view: seen.view }),
    decisions: decisions.map(({ at, report }) => ({ at: at.toISOString(), what: explainDecision(report) })),
  }
}

function configuredOf({ configuration, deletedAt }: OwnedAutoscale): Configured {
  if (configuration === null) return Configured.No
  return deletedAt === null ? Configured.Yes : Configured.Closing
}

async function explainedMembers(
  database: Database,
  serviceUuid: string,
  nowMs: number,
): Promise<readonly ExplainedMember[]> {
  const [service] = await readAutoscaleMembers(database, [serviceUuid])
  if (service === undefined) return []
  return service.members.map((member) => {
    const { uuid, name, isMaster, nodeId, state } = member
    const standing = standingOf(member, service.configuration, nowMs)
    const failure = failureOf(member, nowMs)
    return { uuid, name, isMaster, nodeId, state, standing, ...(failure !== undefined && { failure }) }
  })
}
