import process from 'node:process'
import { parseArgs } from 'node:util'
import { ChaosRun } from '../test/chaos/chaos-run.ts'
import { openChaosScene } from '../test/chaos/chaos-scene.ts'
import type { ChaosScene } from '../test/chaos/chaos-scene.ts'
import { disturbanceNames } from '../test/chaos/disturbances.ts'
import type { DisturbanceName } from '../test/chaos/disturbances.ts'
import { needsNamespace, runInNamespace } from '../test/support/namespace.ts'

/**
 * `npm run chaos -- --minutes 10 --seed 7` lets three hosts go through what may happen to them, under traffic
 * and operations. It ends with what happened, and with what was promised and not kept. With
 * `--only 'a VM dies'` nothing else happens.
 */

const mostMinutes = 600
const maxSeed = 2 ** 31
const maxShown = 20_000

interface Options {
  readonly minutes: number
  readonly seed: number
  readonly only: readonly DisturbanceName[]
}

function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string' },
      only: { type: 'string' },
    },
  })
  const minutes = Number(values.minutes)
  if (!(minutes > 0 && minutes <= mostMinutes))
    throw new Error(`--minutes is a number above 0, up to ${mostMinutes}, not '${values.minutes}'`)
  const seed = Number(values.seed ?? Math.floor(Math.random() * maxSeed))
  if (!Number.isInteger(seed) || seed < 0 || seed > maxSeed)
    throw new Error(`--seed is a whole number up to ${maxSeed}, not '${values.seed}'`)
  const only =
    values.only === undefined ? disturbanceNames : disturbanceNames.filter((one) => one === values.only)
  if (only.length === 0)
    throw new Error(`--only is one of '${disturbanceNames.join("', '")}', not '${values.only}'`)
  return { minutes, seed, only }
}

async function main({ minutes, seed, only }: Options): Promise<boolean> {
  const startedMs = performance.now()
  const say = (text: string): void =>
    void process.stdout.write(
      `${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s  ${text}\n`,
    )
  say(`${minutes} minutes with the seed ${seed}`)
  const scene = await openChaosScene()
  const run = new ChaosRun(scene, { ms: minutes * 60_000, seed, only, say })
  try {
    await run.play()
    process.stdout.write(`\n${run.tell()}\n\nevery promise was kept\n`)
    return true
  } catch (error) {
    tellFailure(scene)
    process.stdout.write(`\n${run.tell()}\n\n${error instanceof Error ? error.message : String(error)}\n`)
    return false
  } finally {
    await scene.remove()
  }
}

function tellFailure({ stack, machines }: ChaosScene): void {
  for (const [name, output] of [
    ['the stack', stack.output()],
    ['h2', machines.h2.output()],
    ['h3', machines.h3.output()],
  ] as const)
    process.stdout.write(`--- ${name} said last:\n${output.slice(-maxShown)}\n`)
}

const options = readOptions(process.argv.slice(2))
if (needsNamespace()) process.exit(await runInNamespace('roost-chaos'))
process.exit((await main(options)) ? 0 : 1)
