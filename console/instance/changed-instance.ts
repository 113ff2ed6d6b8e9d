import type { FormReading } from '../object/form-reading.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import { ScaleToZeroPolicy } from '../../src/domain/standby/scale-to-zero.ts'
import type { Instance } from './mood.ts'
import { readMemory, readVariables } from './new-instance.ts'

/** What a person has filled in, as texts. */
export interface ChangeDraft {
  readonly image: string
  readonly memoryMb: string
  readonly args: string
  readonly env: string
  readonly unset: string
  readonly restart: RestartPolicy
  readonly sleeps: boolean
  readonly keepsMemory: boolean
  readonly tags: string
  readonly now: boolean
}

/**
 * The form as it is at first: what the instance has. Arguments are left out, because they are a list, and
 * variables, because their values are often secrets.
 */
export function draftOf(instance: Instance): ChangeDraft {
  const { image = '', memory_mb: memoryMb = 0, restart_policy: restart, tags = [] } = instance
  const { scale_to_zero: sleep } = instance
  return {
    image,
    memoryMb: String(memoryMb),
    args: '',
    env: '',
    unset: '',
    restart: restart ?? RestartPolicy.Never,
    sleeps: (sleep?.policy ?? ScaleToZeroPolicy.Off) !== ScaleToZeroPolicy.Off,
    keepsMemory: sleep?.stateful ?? false,
    tags: tags.join(' '),
    now: false,
  }
}

export type ChangedInstance = ReturnType<typeof requestOf>

/** The request that a draft means: only what is other than the instance has it. The API checks the rest. */
export function readChange(
  instance: Instance,
  draft: ChangeDraft,
): FormReading<ChangedInstance, keyof ChangeDraft> {
  const memoryMb = readMemory(draft.memoryMb)
  if (typeof memoryMb === 'string') return { ok: false, field: 'memoryMb', problem: memoryMb }
  const env = readVariables(draft.env)
  if (typeof env === 'string') return { ok: false, field: 'env', problem: env }
  const request = requestOf(draft, { before: draftOf(instance), memoryMb, env })
  if (Object.keys(request).length === 0) {
    return { ok: false, field: 'memoryMb', problem: 'Nothing is other than it was.' }
  }
  return { ok: true, request }
}

function requestOf(
  draft: ChangeDraft,
  values: {
    readonly before: ChangeDraft
    readonly memoryMb: number
    readonly env: Readonly<Record<string, string>>
  },
) {
  const { before, memoryMb, env } = values
  const isOther = (...names: readonly (keyof ChangeDraft)[]) =>
    names.some((name) => draft[name] !== before[name])
  const unset = wordsOf(draft.unset)
  const policy = before.sleeps && draft.sleeps ? undefined : draft.sleeps ? 'on' : 'off'
  return {
    ...(isOther('image') && { image: draft.image.trim() }),
    ...(isOther('memoryMb') && { memory_mb: memoryMb }),
    ...(draft.args.trim() !== '' && { args: draft.args.trim() }),
    ...(Object.keys(env).length > 0 && { add: { env: { ...env } } }),
    ...(unset.length > 0 && { del: { env: unset } }),
    ...(isOther('restart') && { restart_policy: draft.restart }),
    ...(isOther('sleeps', 'keepsMemory') && {
      scale_to_zero: {
        ...(policy && { policy: policy as ScaleToZeroPolicy }),
        stateful: draft.sleeps && draft.keepsMemory,
      },
    }),
    ...(isOther('tags') && { tags: wordsOf(draft.tags) }),
    ...(draft.now && { restart: true }),
  }
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean)
}
