import type { Command } from 'commander'
import { simulateAutoscale } from '../../domain/autoscale/simulation.ts'
import type { SimulatedMoment } from '../../domain/autoscale/simulation.ts'
import { SimulationTally } from '../../domain/autoscale/simulation-report.ts'
import type { CliDeps } from '../cli-deps.ts'
import { answer } from '../output.ts'
import { addSimulationOptions, simulationOf } from './simulation-options.ts'
import type { SimulateOptions } from './simulation-options.ts'
import { isTold, momentsTable, reportText } from './simulation-output.ts'
import { readWrittenAutoscale } from './written-autoscale.ts'

const help = `
The load is what is asked for of all instances together: millicores for cpu, requests for the other metrics. Instances share it
evenly, and what is more than they can serve finds no room.

  roost admin autoscale simulate --config autoscale.json --curve step --low 200 --high 3000
  roost admin autoscale simulate --config autoscale.json --load monday.csv --boot-time 4000`

export function addAutoscaleSimulateCommand(autoscale: Command, deps: CliDeps): void {
  const command = autoscale
    .command('simulate')
    .description('tell what a configuration would do under a load, without touching any service')
    .addHelpText('after', help)
  addSimulationOptions(command).action((options: SimulateOptions) => simulate(deps, options))
}

async function simulate(deps: CliDeps, options: SimulateOptions): Promise<void> {
  const simulation = await simulationOf(await readWrittenAutoscale(options.config), options)
  const tally = new SimulationTally()
  const told: SimulatedMoment[] = []
  for (const moment of simulateAutoscale(simulation.settings)) {
    tally.add(moment)
    if (isTold(moment, options.every)) told.push(moment)
  }
  const { report } = tally
  const text = `${momentsTable(told, simulation)}\n\n${reportText(report, simulation)}`
  answer(deps, options, { json: { moments: told, report }, text })
}
