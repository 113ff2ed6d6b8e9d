import { table } from '../../src/primitives/text-table.ts'
import type { LossFigures, LossPlan } from './loss-run.ts'

const headings = [
  'lost by',
  'back after',
  'sleepers',
  'counts as lost',
  'last answer there',
  'least gap',
  'plain',
  'warm',
  'cold',
  'live again',
  'disk',
]

/** The times of losses, in seconds. What counts from the return of the host stands last. */
export function tellFigures(
  runs: readonly { readonly plan: LossPlan; readonly figures: LossFigures }[],
): string {
  return table([
    headings,
    ...runs.map(({ plan, figures }) => [
      plan.way,
      inS(plan.backAfterMs),
      plan.awake ? 'awake' : 'asleep',
      inS(figures.declaredMs),
      inS(figures.lastOldMs),
      inS(figures.gapMs),
      inS(figures.elsewhereMs.plain),
      inS(figures.elsewhereMs.warm),
      inS(figures.elsewhereMs.cold),
      inS(figures.liveMs),
      inS(figures.diskMs),
    ]),
  ])
}

function inS(ms: number | undefined): string {
  return ms === undefined ? '-' : (ms / 1_000).toFixed(1)
}
