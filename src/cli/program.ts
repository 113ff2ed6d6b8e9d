import { Command, CommanderError } from 'commander'
import type { CliDeps } from './cli-deps.ts'
import { CliFailure, ExitCode } from './cli-failure.ts'
import { addAutoscaleCommands } from './autoscale/commands.ts'
import { addCertCommands } from './certificate/commands.ts'
import { addCaCommand } from './certificate/ca-command.ts'
import { addDomainCommands } from './certificate/domain-commands.ts'
import { addDoctorCommand } from './host/doctor-command.ts'
import { addHaltCommand } from './host/halt-command.ts'
import { addExplainCommand } from './explain-command.ts'
import { addImageCommands } from './image/commands.ts'
import { addNodeCommands } from './host/commands.ts'
import { addTokenCommands } from './account/token-commands.ts'
import { addUserCommands } from './account/user-commands.ts'
import { addVolumeCommands } from './volume/commands.ts'

/**
 * Runs `roost <args>` and returns its exit code. Refusals and mistakes in the arguments are written for the
 * person at the terminal. Any other error is thrown, because it is a defect.
 */
export async function runCli(args: readonly string[], deps: CliDeps): Promise<ExitCode> {
  try {
    await createProgram(deps).parseAsync([...args], { from: 'user' })
    return ExitCode.Done
  } catch (error) {
    // Help and version come as errors with exit code 0. Commander has written everything already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Done : ExitCode.Usage
    if (!(error instanceof CliFailure)) throw error
    deps.note(`roost: ${error.message}\n`)
    return ExitCode.Failed
  }
}

function createProgram(deps: CliDeps): Command {
  // Subcommands inherit these settings when they are made, so they come first.
  const program = new Command('roost admin')
    .description(
      'Administers a Roost stack: accounts, tokens, images, hosts, volumes, certificates, domains, autoscale, why instances are awake, what works on this machine, and the end of what runs on it.',
    )
    .exitOverride()
    .configureOutput({ writeOut: deps.write, writeErr: deps.note })
    .showHelpAfterError('(add --help for what is possible)')
    .addHelpText('after', '\nExit codes: 0 done, 1 not possible, 2 wrong arguments.')
  addExplainCommand(program, deps)
  addUserCommands(program, deps)
  addTokenCommands(program, deps)
  addImageCommands(program, deps)
  addVolumeCommands(program, deps)
  addCertCommands(program, deps)
  addDomainCommands(program, deps)
  addAutoscaleCommands(program, deps)
  addNodeCommands(program, deps)
  addCaCommand(program, deps)
  addDoctorCommand(program, deps)
  addHaltCommand(program, deps)
  return program
}
