import { Command, CommanderError, Option } from 'commander'
import { ApiFailure } from '../client/api-failure.ts'
import { isAborted } from '../client/client.ts'
import { addAccountCommands } from './account/commands.ts'
import { addLoginCommands } from './account/login-command.ts'
import { addAutoscaleCommands } from './autoscale/commands.ts'
import { addCertCommands } from './certificate/commands.ts'
import type { CommandDeps } from './command-deps.ts'
import { CommandFailure, ExitCode, ProgramEnd, toldFailure } from './command-failure.ts'
import { addCompletionCommands } from './completion/commands.ts'
import { addComposeCommands } from './compose/commands.ts'
import { addEventCommands } from './event/commands.ts'
import { addHostCommands } from './host/commands.ts'
import { addPushCommand } from './image/push-command.ts'
import { addCopyCommand } from './instance/copy-command.ts'
import { addExecCommand } from './instance/exec-command.ts'
import { addExplainCommand } from './instance/explain-command.ts'
import { addLifeCommands } from './instance/life-commands.ts'
import { addListCommands } from './instance/list-commands.ts'
import { addInstanceCommands } from './instance/move-command.ts'
import { addUsageCommand } from './instance/usage-command.ts'
import { addLogCommand } from './instance/log-command.ts'
import { addRunCommand } from './instance/run-command.ts'
import { addSetCommand } from './instance/set-command.ts'
import { addTunnelCommand } from './instance/tunnel-command.ts'
import { movedCommand } from './moved-commands.ts'
import { addOpenCommand, addServiceCommands } from './service/commands.ts'
import { addRolloutCommands } from './rollout/commands.ts'
import { addScheduleCommands } from './schedule/commands.ts'
import { openSession } from './session.ts'
import type { CommandLine, GlobalOptions } from './session.ts'
import { addVolumeCommands } from './volume/commands.ts'

/**
 * Runs `roost <args>` for a user and returns its exit code. What went wrong is written for the person at the
 * terminal. Any other error is thrown, because it is a defect.
 */
export async function runCommand(args: readonly string[], deps: CommandDeps): Promise<number> {
  try {
    const moved = movedCommand(args)
    if (moved !== undefined) throw new CommandFailure(moved, { exitCode: ExitCode.Usage })
    await createProgram(deps).parseAsync(withModes(args), { from: 'user' })
    return ExitCode.Done
  } catch (error) {
    // Help and version come as errors with exit code 0. Commander has written everything already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Done : ExitCode.Usage
    if (error instanceof ProgramEnd) return error.code
    if (isAborted(error) && deps.signal.aborted) return ExitCode.Failed
    const told = toldError(error)
    if (told === undefined) throw error
    deps.note(`roost: ${told.message}\n`)
    return told.exitCode
  }
}

function toldError(error: unknown): { readonly message: string; readonly exitCode: ExitCode } | undefined {
  if (error instanceof ApiFailure) return toldFailure(error)
  return error instanceof CommandFailure ? error : undefined
}

export function createProgram(deps: CommandDeps): Command {
  // Subcommands inherit these settings when they are made, so they come first.
  const program = new Command('roost')
    .description('Runs applications as small virtual machines, over the API of an installation.')
    .exitOverride()
    .configureOutput({ writeOut: deps.write, writeErr: deps.note })
    .configureHelp({
      showGlobalOptions: true,
      ...(deps.columns !== undefined && { helpWidth: deps.columns }),
    })
    .showHelpAfterError('(add --help for what is possible)')
    .addOption(new Option('-o, --output <form>', 'the form of the answer').choices(['table', 'json']))
    .option('--profile <name>', 'the profile to use; default: that of `roost profile`')
    .addHelpText(
      'after',
      '\n`roost admin` has the commands of operators, who read the database of an installation.' +
        '\nExit codes: 0 done, 1 not possible, 2 wrong arguments, 3 not found, 4 no access, 5 no answer, 6 timed out.',
    )
  const options = () => program.opts<GlobalOptions>()
  const line: CommandLine = { program, deps, options, session: () => openSession(deps, options()) }
  addLoginCommands(line)
  addRunCommand(line)
  addListCommands(line)
  addUsageCommand(line)
  addLifeCommands(line)
  addSetCommand(line)
  addLogCommand(line)
  addExecCommand(line)
  addCopyCommand(line)
  addTunnelCommand(line)
  addEventCommands(line)
  addExplainCommand(line)
  addOpenCommand(line)
  addPushCommand(line)
  addServiceCommands(line)
  addRolloutCommands(line)
  addVolumeCommands(line)
  addScheduleCommands(line)
  addCertCommands(line)
  addAutoscaleCommands(line)
  addAccountCommands(line)
  addComposeCommands(line)
  addInstanceCommands(line)
  addHostCommands(line)
  addCompletionCommands(line)
  return program
}

/** `--scale-to-zero` without a value means `on`, and never takes the word after it for its value. */
function withModes(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  return args.map((arg, index) =>
    arg === '--scale-to-zero' && (end < 0 || index < end) ? '--scale-to-zero=on' : arg,
  )
}
