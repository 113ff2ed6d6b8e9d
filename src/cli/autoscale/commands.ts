import type { Command } from 'commander'
import { addAutoscaleExplainCommand } from './explain-command.ts'
import { addAutoscaleSimulateCommand } from './simulate-command.ts'
import type { CliDeps } from '../cli-deps.ts'

export function addAutoscaleCommands(program: Command, deps: CliDeps): void {
  const autoscale = program.command('autoscale').description('services that grow and shrink')
  addAutoscaleExplainCommand(autoscale, deps)
  addAutoscaleSimulateCommand(autoscale, deps)
}
