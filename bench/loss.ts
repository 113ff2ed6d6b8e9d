import process from 'node:process'
import { parseArgs } from 'node:util'
import { Dice } from '../test/sim/dice.ts'
import { lossWays } from '../test/support/host-losses.ts'
import { LossRun } from '../test/support/loss-run.ts'
import type { LossPlan } from '../test/support/loss-run.ts'
import { openLossScene, shortTermS } from '../test/support/loss-scene.ts'
import type { LossScene } from '../test/support/loss-scene.ts'
import { tellFigures } from '../test/support/loss-table.ts'
import { needsNamespace, runInNamespace } from '../test/support/namespace.ts'

/**
 * `npm run loss -- --runs 20` loses a host again and again, in ways that a seed decides, while a witness asks
 * all instances. It ends with a table of the times, and says how often an instance had two VMs at once. With
 * `--way cut` it takes only that way, and with `--term 60` the hosts have a term of a minute.
 */

const mostRuns = 10_000
const maxSeed = 2 ** 31
const maxTermS = 600
const maxShown = 6_000
/**
 * When a host comes back that may not count as lost. The most delicate moments are those around the end of
 * its term, and the few seconds until it is declared lost.
 */
const backS = { beforeTerm: 4, afterTerm: 8 }
const brieflyLost = 0.5

interface Options {
  readonly runs: number
  readonly seed: number
  readonly ways: readonly LossPlan['way'][]
  readonly termS: number
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      runs: { type: 'string', default: '10' },
      seed: { type: 'string' },
      way: { type: 'string' },
      term: { type: 'string', default: String(shortTermS) },
    },
  })
  const ways = values.way === undefined ? lossWays : lossWays.filter((one) => one === values.way)
  if (ways.length === 0) throw new Error(`--way is one of ${lossWays.join(', ')}, not '${values.way}'`)
  const seed = values.seed ?? String(Math.floor(Math.random() * maxSeed))
  const termS = whole('--term', values.term, maxTermS)
  if (termS < shortTermS) throw new Error(`--term is at least ${shortTermS}, not '${values.term}'`)
  return { runs: whole('--runs', values.runs, mostRuns), seed: whole('--seed', seed, maxSeed), ways, termS }
}

function whole(name: string, text: string, most: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new Error(`${name} is a whole number up to ${most}, not '${text}'`)
  return value
}

function planBy(dice: Dice, { ways, termS }: Options): LossPlan {
  const plan = { way: dice.pick(ways), awake: dice.chance(0.5) }
  // Both are drawn in any case, so that a run depends on the seed and its number alone.
  const backAfterMs = Math.round(dice.between(termS - backS.beforeTerm, termS + backS.afterTerm) * 1_000)
  return dice.chance(brieflyLost) ? { ...plan, backAfterMs } : plan
}

async function play(run: LossRun): Promise<void> {
  await run.begin()
  const { backAfterMs } = run.plan
  if (backAfterMs !== undefined) return await run.loseBriefly(backAfterMs)
  await run.lose()
  await run.verifyWaiting()
  await run.bringBack()
}

interface Played {
  readonly proofs: readonly string[]
  readonly failure?: unknown
}

/** Plays a run to its end. The proofs count even if it failed in between. */
async function witnessed(run: LossRun): Promise<Played> {
  try {
    await play(run)
    const proofs = run.proofsOfTwo()
    await run.end()
    return { proofs }
  } catch (failure) {
    return { proofs: run.proofsOfTwo(), failure }
  }
}

function tellFailure(scene: LossScene, failure: unknown): void {
  const text = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure)
  process.stdout.write(
    `  failed: ${text}\n--- the stack said last:\n${scene.stack.output().slice(-maxShown)}\n` +
      `--- h2 said last:\n${scene.lost.output().slice(-maxShown)}\n---\n`,
  )
}

async function main(options: Options): Promise<boolean> {
  const { runs, seed, termS } = options
  process.stdout.write(`${runs} runs with the seed ${seed} and a term of ${termS} s\n`)
  const dice = new Dice(seed)
  const played: LossRun[] = []
  let [two, failed] = [0, 0]
  let scene: LossScene | undefined
  try {
    for (let turn = 1; turn <= runs; turn++) {
      scene ??= await openLossScene(termS)
      const run = new LossRun(scene, planBy(dice, options))
      process.stdout.write(`run ${turn}: ${JSON.stringify(run.plan)}\n`)
      const startedMs = performance.now()
      const { proofs, failure } = await witnessed(run)
      process.stdout.write(`  took ${((performance.now() - startedMs) / 1_000).toFixed(0)} s\n`)
      played.push(run)
      if (proofs.length > 0) two += 1
      for (const proof of proofs) process.stdout.write(`  TWO: ${proof}\n`)
      if (failure === undefined) continue
      failed += 1
      tellFailure(scene, failure)
      // Nobody knows what is left of this one.
      await run.abandon()
      await scene.remove()
      scene = undefined
    }
  } finally {
    await scene?.remove()
  }
  process.stdout.write(
    `\n${tellFigures(played)}\n\n${failed} of ${runs} runs failed\n${two} of ${runs} runs had two\n`,
  )
  return two === 0 && failed === 0
}

const options = readOptions(process.argv.slice(2))
if (needsNamespace()) process.exit(await runInNamespace('roost-loss'))
process.exit((await main(options)) ? 0 : 1)
