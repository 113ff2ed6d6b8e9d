import { maxCanarySteps } from '../../contract/limits.ts'
import { checkPathPattern, maxCheckPathLength } from '../../domain/rollout/check.ts'
import { millisecondsIn } from './amounts.ts'
import type { RolloutWishes } from './project.ts'
import type { Pair, Reader } from './reader.ts'

export const rolloutLabels = [
  'roost.rollout.canary',
  'roost.rollout.bake',
  'roost.rollout.check-path',
] as const

/** What the labels of a service say about its rollouts. */
export function readRollout(reader: Reader, pairs: ReadonlyMap<string, Pair>): RolloutWishes {
  const [canary, bake, path] = rolloutLabels.map((name) => pairs.get(name))
  const steps = canary && readCanary(reader, canary)
  const bakeMs = bake && readBake(reader, bake)
  const checkPath = path && readPath(reader, path)
  return {
    ...(steps && { canary: steps }),
    ...(bakeMs !== undefined && { bakeMs }),
    ...(checkPath !== undefined && { checkPath }),
  }
}

function readCanary(reader: Reader, { text, place }: Pair): readonly number[] | undefined {
  const words = (text ?? '').split(',').map((word) => word.trim())
  const steps = words.map((word) => (/^\d{1,3}%?$/.test(word) ? Number.parseInt(word, 10) : 0))
  const grows = steps.every((step, index) => step > (steps[index - 1] ?? 0)) && steps.at(-1) === 100
  if (grows && steps.length <= maxCanarySteps) return steps
  const expected = `at most ${maxCanarySteps} percents that grow and end with 100, such as 5,50,100`
  return reader.refuse(place, `'roost.rollout.canary' is '${cut(text)}': expected ${expected}`)
}

function readBake(reader: Reader, { text, place }: Pair): number | undefined {
  const ms = millisecondsIn(text ?? '')
  if (ms !== undefined && ms % 1_000 === 0) return ms
  const expected = 'whole seconds of at most 24h, such as 30s or 5m'
  return reader.refuse(place, `'roost.rollout.bake' is '${cut(text)}': expected ${expected}`)
}

function readPath(reader: Reader, { text, place }: Pair): string | undefined {
  if (text !== null && text.length <= maxCheckPathLength && checkPathPattern.test(text)) return text
  const expected = `a path of at most ${maxCheckPathLength} visible characters, such as /health`
  return reader.refuse(place, `'roost.rollout.check-path' is '${cut(text)}': expected ${expected}`)
}

function cut(text: string | null): string {
  return (text ?? '').slice(0, 60)
}
