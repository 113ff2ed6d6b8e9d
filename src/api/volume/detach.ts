import { RequestError } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import { detachVolumes } from '../../contract/volume/operations.ts'
import { detachVolume } from '../../db/volume/attach.ts'
import type { Identifier } from '../../db/identifiers.ts'
import { readIdentifier } from '../body-identifier.ts'
import type { Read } from '../body-identifier.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { failedVolume, findNamedInstance, forEachVolume } from './objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

interface Detachment {
  /**
   * The instance from which the volume is detached. If it is absent, this is any instance that has the
   * volume.
   */
  readonly from?: Identifier
}

/**
 * Detaches each volume. An instance has at most one volume and a volume at most one instance, so there is one
 * entry for each volume.
 */
export function volumesDetach(deps: ApiDeps): Handler<typeof detachVolumes> {
  return async ({ objects }, call) => {
    const read = objects.map((object) => readDetachment(object.parameters))
    const problems = read.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) throw new RequestError(problems)
    const wanted = objects.flatMap(({ target }, index) => {
      const one = read[index]
      return target !== undefined && one?.ok ? [{ target, parameters: one.value }] : []
    })
    const { userUuid } = call.identity
    const entries = await forEachVolume(deps, call, wanted, async (row, { from }) => {
      const found = from === undefined ? undefined : await findNamedInstance(deps, call, from)
      if (found?.ok === false) return failedVolume(row, found.problem)
      const instance = found === undefined ? {} : { instanceUuid: found.uuid }
      const outcome = await detachVolume(deps.database, {
        userUuid,
        volumeUuid: row.uuid,
        ...instance,
        asker: call.asker,
      })
      if (!outcome.ok) return failedVolume(row, writeRefusalProblem(outcome.refusal))
      return { status: 'success' as const, uuid: row.uuid, name: row.name }
    })
    return { entries }
  }
}

function readDetachment({ from }: OperationBody<typeof detachVolumes>): Read<Detachment> {
  if (from === undefined) return { ok: true, value: {} }
  const { uuid, name } = from
  const instance = readIdentifier(
    { ...(uuid && { uuid }), ...(name && { name }) },
    `'from' of ${detachVolumes.place}`,
  )
  return instance.ok ? { ok: true, value: { from: instance.value } } : instance
}
