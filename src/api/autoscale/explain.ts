import type { explainAutoscale } from '../../contract/autoscale/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { findAutoscaled } from '../../db/autoscale/search.ts'
import { autoscaleFacts } from '../../explain/autoscale/facts.ts'
import type { AutoscaleFacts } from '../../explain/autoscale/facts.ts'
import { autoscaleText } from '../../explain/autoscale/text.ts'
import { controlSilent, recordedOnly } from '../../explain/explanation-text.ts'
import type { Handler } from '../call.ts'
import { controlQuestions } from '../control-questions.ts'
import type { ApiDeps } from '../deps.ts'
import { missingEntry } from '../failed-entry.ts'
import { forEachService, serviceKind } from '../service/objects.ts'
import { timestamp } from '../timestamp.ts'

type Entry = OperationEntry<typeof explainAutoscale>

/** How services are scaled, what was decided and why, and what comes next. */
export function autoscaleExplain(deps: ApiDeps): Handler<typeof explainAutoscale> {
  return async ({ objects }, call) => {
    const readSeen = controlQuestions(
      (uuid) => deps.autoscaleControl.seen(uuid),
      (error) => call.log.warn({ err: error }, 'the watch of a service could not be asked'),
    )
    const entries = await forEachService(deps, call, objects, async ({ uuid }) => {
      const service = await findAutoscaled(deps.database, uuid)
      // The service was deleted since it was found.
      if (service === undefined) return missingEntry(serviceKind, { by: 'uuid', value: uuid })
      const answer = service.configuration === null ? nothingSeen : await readSeen(uuid)
      const seen = answer.isSilent ? undefined : answer.value
      const nowMs = deps.nowMs()
      const facts = await autoscaleFacts(deps.database, { service, ...(seen && { seen }), nowMs })
      return present(facts, answer.isSilent ? recordedOnly(controlSilent) : undefined)
    })
    return { entries }
  }
}

/** Nobody watches a service that is not configured. */
const nothingSeen = { isSilent: false, value: undefined } as const

function present(facts: AutoscaleFacts, note: string | undefined): Entry {
  const { serviceUuid, serviceName, configured, now, next, failure, size, target, leaving } = facts
  const text = autoscaleText(facts)
  const { atMs, metrics } = facts.view ?? {}
  return {
    status: 'success',
    uuid: serviceUuid,
    name: serviceName,
    state: configured,
    now,
    next,
    ...(failure === undefined ? {} : { failure }),
    ...(note === undefined ? {} : { note }),
    text: note === undefined ? text : `${note}\n${text}`,
    size,
    ...(target === null ? {} : { target }),
    members: presentMembers(facts),
    leaving: [...leaving],
    ...(atMs === undefined ? {} : { measured_at: timestamp(new Date(atMs)) }),
    ...(metrics === undefined ? {} : { metrics }),
    decisions: facts.decisions.map(({ at, what }) => ({ at: timestamp(new Date(at)), what })),
  }
}

function presentMembers({ members, view }: AutoscaleFacts): Entry['members'] {
  return members.map(({ uuid, name, isMaster, nodeId, state, standing, failure }) => {
    const load = view?.loads?.[name]
    return {
      uuid,
      name,
      master: isMaster,
      host: nodeId,
      state,
      standing,
      ...(failure === undefined ? {} : { failure }),
      ...(load === undefined ? {} : { load }),
    }
  })
}
