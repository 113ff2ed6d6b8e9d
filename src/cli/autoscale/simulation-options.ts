import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import type { SimulationSettings } from '../../domain/autoscale/simulation.ts'
import { eachMetric } from '../../domain/autoscale/looks.ts'
import { AutoscaleMetric } from '../../domain/autoscale/policy.ts'
import type { AutoscaleConfiguration } from '../../domain/autoscale/policy.ts'
import type { MetricValues } from '../../domain/autoscale/proposal.ts'
import { CurveShape, demandOf, loadCurve, recordedLoad } from '../../domain/autoscale/load-curve.ts'
import { inputName, readBounded } from '../bounded-input.ts'
import { CliFailure } from '../cli-failure.ts'
import type { OutputOptions } from '../output.ts'
import { maxLoad, maxLoadBytes, maxSimulatedSeconds, parseLoad } from './recorded-load.ts'

/** The options as commander hands them over. */
export interface SimulateOptions extends OutputOptions {
  readonly config: string
  readonly load?: string
  readonly curve?: CurveShape
  readonly metric?: AutoscaleMetric
  readonly capacity?: Partial<MetricValues>
  readonly vcpus: number
  readonly low?: number
  readonly high?: number
  readonly period: number
  readonly duration?: number
  readonly noise: number
  readonly seed: number
  readonly bootTime: number
  readonly failing: number
  readonly quota?: number
  readonly every: number
}

/** What is simulated, and the metric in which the load is given. */
export interface Simulation {
  readonly settings: SimulationSettings
  readonly metric: AutoscaleMetric
}

/**
 * The most simulated seconds times the most instances that may exist. One simulated second of a service with
 * one instance takes microseconds.
 */
export const maxInstanceSeconds = 20_000_000

const shapes = Object.values(CurveShape)
const metrics = Object.values(AutoscaleMetric)

export function addSimulationOptions(command: Command): Command {
  return command
    .requiredOption('--config <file>', 'configuration in JSON as the API accepts it; - for standard input')
    .option('--load <file>', 'recorded load as lines of seconds,load; - for standard input')
    .option('--curve <shape>', `load that is made up: ${shapes.join(', ')}`, oneOf(shapes))
    .option(
      '--metric <metric>',
      `metric of the load: ${metrics.join(', ')} (default: the first policy's)`,
      oneOf(metrics),
    )
    .option(
      '--capacity <metric=number>',
      'how much one instance serves at most, for each metric but cpu',
      addCapacity,
    )
    .option('--vcpus <number>', 'virtual CPUs of an instance', wholeFrom(1, 64), 1)
    .option(
      '--low <load>',
      'least load of a curve (default: a fifth of what an instance serves)',
      numberFrom(0, maxLoad),
    )
    .option(
      '--high <load>',
      'most load of a curve (default: half of what max_size serves)',
      numberFrom(0, maxLoad),
    )
    .option('--period <seconds>', 'length of a curve', wholeFrom(1, maxSimulatedSeconds), 300)
    .option(
      '--duration <seconds>',
      'end of it all (default: end of the curve or load)',
      numberFrom(1, maxSimulatedSeconds),
    )
    .option('--noise <percent>', 'how much a curve differs from second to second', numberFrom(0, 100), 0)
    .option('--seed <number>', 'seed of everything random', wholeFrom(0, 2_147_483_647), 1)
    .option('--boot-time <ms>', 'time until an instance serves', wholeFrom(0, 600_000), 1_500)
    .option('--failing <number>', 'how many clones do not start, from the first on', wholeFrom(0, 1_000), 0)
    .option('--quota <number>', 'most instances, including draining ones', wholeFrom(1, 1_000_000))
    .option('--every <seconds>', 'longest time between two lines', wholeFrom(1, maxSimulatedSeconds), 10)
    .option('--json', 'answer in JSON')
}

export async function simulationOf(
  configuration: AutoscaleConfiguration,
  options: SimulateOptions,
): Promise<Simulation> {
  const { bootTime: bootMs, seed, failing, quota } = options
  const metric = options.metric ?? configuration.policies[0]?.metric ?? AutoscaleMetric.Cpu
  const capacities = capacitiesOf(configuration, metric, options)
  const { curve, durationMs } = await loadOf(configuration, capacities[metric], options)
  requireBounded(configuration, durationMs)
  const settings = {
    configuration,
    capacities,
    bootMs,
    seed,
    failing,
    ...(quota !== undefined && { quota }),
    demand: demandOf((atMs) => curve(atMs) / capacities[metric], capacities),
    durationMs,
  }
  return { settings, metric }
}

function requireBounded({ maxSize }: AutoscaleConfiguration, durationMs: number): void {
  const seconds = Math.ceil(durationMs / 1_000)
  if (seconds * maxSize <= maxInstanceSeconds) return
  throw new CliFailure(
    `${seconds} s with up to ${maxSize} instances are more than ${maxInstanceSeconds} instance seconds: give a --duration of at most ${Math.floor(maxInstanceSeconds / maxSize)}`,
  )
}

const millicoresPerVcpu = 1_000

function capacitiesOf(
  { policies }: AutoscaleConfiguration,
  metric: AutoscaleMetric,
  { capacity = {}, vcpus }: SimulateOptions,
): MetricValues {
  const given: Partial<MetricValues> = { [AutoscaleMetric.Cpu]: vcpus * millicoresPerVcpu, ...capacity }
  const user = policies.find((policy) => given[policy.metric] === undefined)
  const missing = given[metric] === undefined ? metric : user?.metric
  if (missing !== undefined) {
    const who = given[metric] === undefined ? 'the load is of' : `policy '${user?.name}' looks at`
    throw new CliFailure(
      `${who} ${missing}: say with --capacity ${missing}=<number> how much of it one instance serves at most`,
    )
  }
  return eachMetric((each) => given[each] ?? 1)
}

async function loadOf(
  { maxSize }: AutoscaleConfiguration,
  capacity: number,
  options: SimulateOptions,
): Promise<{ readonly curve: (atMs: number) => number; readonly durationMs: number }> {
  const { load: file, curve: shape, duration, period, seed } = options
  if ((file === undefined) === (shape === undefined))
    throw new CliFailure('give the load either with --load or with --curve')
  if (file === '-' && options.config === '-')
    throw new CliFailure('only one of --config and --load can be standard input')
  if (shape !== undefined) {
    const { low = capacity / 5, high = (capacity * maxSize) / 2, noise } = options
    const curve = loadCurve(shape, { low, high, periodMs: period * 1_000, noise: noise / 100, seed })
    return { curve, durationMs: (duration ?? period) * 1_000 }
  }
  const points = parseLoad(await readBounded(String(file), maxLoadBytes), inputName(String(file)))
  const lastMs = points.at(-1)?.atMs ?? 0
  return { curve: recordedLoad(points), durationMs: duration === undefined ? lastMs : duration * 1_000 }
}

function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((each) => each === text)
    if (word === undefined) throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`)
    return word
  }
}

function numberFrom(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`)
    return value
  }
}

function wholeFrom(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = numberFrom(min, max)(text)
    if (!Number.isInteger(value)) throw new InvalidArgumentError('It must be a whole number.')
    return value
  }
}

function addCapacity(text: string, before: Partial<MetricValues> = {}): Partial<MetricValues> {
  const [name = '', number = ''] = text.split('=', 2)
  const value = numberFrom(0, maxLoad)(number)
  if (value === 0) throw new InvalidArgumentError('An instance must serve something.')
  return { ...before, [oneOf(metrics)(name)]: value }
}
