import { checkPathPattern } from '../../src/domain/rollout/check.ts'
import { defaultBakeMs, defaultCanary, defaultKeepMs } from '../../src/domain/rollout/plan.ts'
import { readVariables } from '../instance/new-instance.ts'
import { readWholeNumber } from '../object/form-reading.ts'
import type { FormReading } from '../object/form-reading.ts'

/** What a person has filled in, as texts. */
export interface RolloutDraft {
  readonly image: string
  readonly env: string
  readonly canary: string
  readonly bakeS: string
  readonly checkPath: string
  readonly keepS: string
}

export const emptyRolloutDraft: RolloutDraft = {
  image: '',
  env: '',
  canary: defaultCanary.join(' '),
  bakeS: String(defaultBakeMs / 1_000),
  checkPath: '',
  keepS: String(defaultKeepMs / 1_000),
}

type Field = keyof RolloutDraft

export interface NewRollout {
  image?: string
  add?: { env: Record<string, string> }
  canary: number[]
  bake_s: number
  check?: { path: string }
  keep_s: number
}

/** The request that a draft means, or the first thing that is wrong with it. The API checks the rest. */
export function readRolloutDraft(draft: RolloutDraft): FormReading<NewRollout, Field> {
  const env = readVariables(draft.env)
  if (typeof env === 'string') return wrong('env', env)
  const canary = readSteps(draft.canary)
  if (typeof canary === 'string') return wrong('canary', canary)
  const bakeS = readWholeNumber(draft.bakeS, { min: 0 })
  if (typeof bakeS === 'string') return wrong('bakeS', bakeS)
  const keepS = readWholeNumber(draft.keepS, { min: 0 })
  if (typeof keepS === 'string') return wrong('keepS', keepS)
  const [image, path] = [draft.image.trim(), draft.checkPath.trim()]
  if (path !== '' && !checkPathPattern.test(path)) {
    return wrong(
      'checkPath',
      `Give a path that begins with '/', without blanks or '#'; '${path.slice(0, 40)}' is none.`,
    )
  }
  return {
    ok: true,
    request: {
      ...(image !== '' && { image }),
      ...(Object.keys(env).length > 0 && { add: { env: { ...env } } }),
      canary,
      bake_s: bakeS,
      ...(path !== '' && { check: { path } }),
      keep_s: keepS,
    },
  }
}

function readSteps(text: string): number[] | string {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  const bad = words.find((word) => !/^\d{1,3}%?$/.test(word))
  if (words.length > 0 && bad === undefined) return words.map((word) => Number.parseInt(word))
  return `Give the steps in percent, such as 5 50 100; '${(bad ?? text).slice(0, 40)}' is none.`
}

function wrong(field: Field, problem: string): Extract<FormReading<never, Field>, { readonly ok: false }> {
  return { ok: false, field, problem }
}

/** The field of the form that a sentence of the API is about; undefined if it is about none of them. */
export function rolloutFieldOf(sentence: string): Field | undefined {
  return sentences.find(([pattern]) => pattern.test(sentence))?.[1]
}

const sentences: readonly (readonly [RegExp, Field])[] = [
  [/'canary/, 'canary'],
  [/'bake_s'/, 'bakeS'],
  [/'keep_s'/, 'keepS'],
  [/'path'|check/, 'checkPath'],
  [/'env'|variable/, 'env'],
  [/[Ii]mage/, 'image'],
]
