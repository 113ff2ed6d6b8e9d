import { problem } from '../../contract/errors.ts'
import { shortened } from '../../contract/request/validation-problems.ts'
import { parseMountPath } from '../../domain/volume/mount-path.ts'
import type { VolumeMount } from '../../domain/volume/state.ts'
import type { Read } from '../body-identifier.ts'

interface MountBody {
  readonly at?: string
  readonly readonly?: boolean
}

/**
 * Reads how a volume is to be mounted: `at`, which is required, and `readonly`. Each may be in one of two
 * places, `inside` an object or `beside` it, but not in both.
 */
export function readMount(
  { inside, beside = {} }: { readonly inside: MountBody; readonly beside?: MountBody },
  place: string,
): Read<VolumeMount> {
  const twice = (['at', 'readonly'] as const).filter(
    (key) => inside[key] !== undefined && beside[key] !== undefined,
  )
  if (twice.length > 0) {
    const problems = twice.map((name) => problem('notBoth', { name, other: `attach_to.${name}`, place }))
    return { ok: false, problems }
  }
  const { at = beside.at, readonly = beside.readonly ?? false } = inside
  if (at === undefined) return { ok: false, problems: [problem('missingParameter', { name: 'at', place })] }
  const path = parseMountPath(at)
  if (path.ok) return { ok: true, value: { at: path.at, readonly } }
  const problems = [problem('invalidMountPath', { value: shortened(at), must: path.must })]
  return { ok: false, problems }
}
