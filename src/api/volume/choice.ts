import { problem, rangeProblem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { createInstances } from '../../contract/instance/operations.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { VolumeChoice } from '../../db/instance/new-instances.ts'
import type { Identifier } from '../../db/identifiers.ts'
import { findVolumeLimitBreach } from '../../domain/account/quotas.ts'
import type { QuotaLimits } from '../../domain/account/quotas.ts'
import { readIdentifier } from '../body-identifier.ts'
import type { Read } from '../body-identifier.ts'
import { readMount } from './mount.ts'

type InstanceBody = OperationBody<typeof createInstances>
type VolumeBody = NonNullable<InstanceBody['volumes']>[number]

const place = 'volume description'

/**
 * Finds the problems of the volume that a body chooses for an instance. Only problems that do not depend on
 * the state of the platform are found here.
 */
export function volumeChoiceProblems(
  { volumes, replicas }: Pick<InstanceBody, 'volumes' | 'replicas'>,
  limits: QuotaLimits,
): readonly Problem[] {
  return (volumes ?? []).flatMap((body): readonly Problem[] => {
    const read = readVolumeChoice(body)
    if (!read.ok) return read.problems
    if ('made' in read.value) return sizeProblems(read.value.made.sizeMb, { limits, in: ` in ${place}` })
    const named = body.uuid ?? body.name ?? ''
    return (replicas ?? 0) > 0 ? [problem('volumeForOne', { name: named, count: replicas! + 1 })] : []
  })
}

/** The volume that a body chooses for an instance. The body must have passed `volumeChoiceProblems`. */
export function volumeChoice({ volumes }: Pick<InstanceBody, 'volumes'>): VolumeChoice | undefined {
  const [body] = volumes ?? []
  const read = body === undefined ? undefined : readVolumeChoice(body)
  return read?.ok ? read.value : undefined
}

/** The problem of a size that the account's limits do not allow. */
export function sizeProblems(
  sizeMb: number,
  where: { readonly limits: QuotaLimits; readonly in?: string },
): readonly Problem[] {
  const breach = findVolumeLimitBreach(where.limits, sizeMb)
  if (breach === undefined) return []
  return [rangeProblem({ name: breach.parameter, in: where.in ?? '', min: breach.min, max: breach.max })]
}

function readVolumeChoice(body: VolumeBody): Read<VolumeChoice> {
  const { size_mb: sizeMb, ...named } = body
  const mount = readMount({ inside: body }, place)
  const which = sizeMb === undefined ? readExisting(named) : readMade(named, sizeMb)
  if (mount.ok && which.ok) return { ok: true, value: { ...which.value, mount: mount.value } }
  return { ok: false, problems: [...(which.ok ? [] : which.problems), ...(mount.ok ? [] : mount.problems)] }
}

function readExisting({ uuid, name }: VolumeBody): Read<{ readonly existing: Identifier }> {
  const given = { ...(uuid && { uuid }), ...(name && { name }) }
  const isNamed = Object.keys(given).length > 0
  const identifier = readIdentifier(given, isNamed ? place : `${place} without 'size_mb'`)
  return identifier.ok ? { ok: true, value: { existing: identifier.value } } : identifier
}

/**
 * Reads a new volume, which gets a generated name. A name in the body always names an existing volume, so
 * it can not be given together with a size.
 */
function readMade(
  named: Pick<VolumeBody, 'uuid' | 'name'>,
  sizeMb: number,
): Read<{ readonly made: { readonly sizeMb: number } }> {
  const other = (['uuid', 'name'] as const).find((key) => named[key] !== undefined)
  if (other === undefined) return { ok: true, value: { made: { sizeMb } } }
  return { ok: false, problems: [problem('notBoth', { name: other, other: 'size_mb', place })] }
}
