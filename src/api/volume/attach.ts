import { RequestError } from '../../contract/errors.ts'
import type { OperationBody } from '../../contract/operation.ts'
import { attachVolumes } from '../../contract/volume/operations.ts'
import { attachVolume } from '../../db/volume/attach.ts'
import type { Identifier } from '../../db/identifiers.ts'
import type { VolumeMount } from '../../domain/volume/state.ts'
import { readIdentifier } from '../body-identifier.ts'
import type { Read } from '../body-identifier.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { readMount } from './mount.ts'
import { failedVolume, findNamedInstance, forEachVolume } from './objects.ts'
import { writeRefusalProblem } from '../write-refusal.ts'

interface Attachment {
  readonly instance: Identifier
  readonly mount: VolumeMount
}

/** Attaches each volume to an instance, which mounts it from the next start on. */
export function volumesAttach(deps: ApiDeps): Handler<typeof attachVolumes> {
  return async ({ objects }, call) => {
    const read = objects.map((object) => readAttachment(object.parameters))
    const problems = read.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) throw new RequestError(problems)
    const wanted = objects.flatMap(({ target }, index) => {
      const one = read[index]
      return target !== undefined && one?.ok ? [{ target, parameters: one.value }] : []
    })
    const { userUuid } = call.identity
    const entries = await forEachVolume(deps, call, wanted, async (row, { instance, mount }) => {
      const found = await findNamedInstance(deps, call, instance)
      if (!found.ok) return failedVolume(row, found.problem)
      const pair = { userUuid, volumeUuid: row.uuid, instanceUuid: found.uuid }
      const outcome = await attachVolume(deps.database, { ...pair, mount, asker: call.asker })
      if (!outcome.ok) return failedVolume(row, writeRefusalProblem(outcome.refusal))
      return { status: 'success' as const, uuid: row.uuid, name: row.name }
    })
    return { entries }
  }
}

function readAttachment({ attach_to: to, ...beside }: OperationBody<typeof attachVolumes>): Read<Attachment> {
  const { place } = attachVolumes
  const { uuid, name, ...inside } = to
  const instance = readIdentifier({ ...(uuid && { uuid }), ...(name && { name }) }, `'attach_to' of ${place}`)
  const mount = readMount({ inside, beside }, place)
  if (instance.ok && mount.ok) return { ok: true, value: { instance: instance.value, mount: mount.value } }
  return {
    ok: false,
    problems: [...(instance.ok ? [] : instance.problems), ...(mount.ok ? [] : mount.problems)],
  }
}
