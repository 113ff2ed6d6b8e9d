import type { Command } from 'commander'
import { collected, numberOption } from '../session.ts'
import type { CommandLine } from '../session.ts'
import type { DownOptions, UpOptions } from './up-command.ts'

const defaultTimeoutS = 600

export function addComposeCommands({ program, session }: CommandLine): void {
  ofProject(program.command('up'))
    .description('make a project what its compose.yaml says: a plan first, and then only what differs')
    .option('--dry-run', 'only write the plan')
    .option('-y, --yes', 'do not ask')
    .option('--remove-orphans', 'delete instances of the project that the file does not have any more')
    .option(
      '--timeout <s>',
      'wait no longer',
      numberOption('--timeout', { min: 1, max: 86_400 }),
      defaultTimeoutS,
    )
    .addHelpText('after', '\ndocs/compose.md says what becomes of each key of the file.')
    // What they need is loaded here, because no other command has use for it.
    .action(async (options: UpOptions) => {
      const { up } = await import('./up-command.ts')
      await up(await session(), options)
    })
  ofProject(program.command('down'))
    .description('delete the instances and services of a project')
    .option('--volumes', 'delete its volumes too, and what is on them')
    .option('--dry-run', 'only write what would be deleted')
    .option('-y, --yes', 'do not ask')
    .action(async (options: DownOptions) => {
      const { down } = await import('./up-command.ts')
      await down(await session(), options)
    })
}

function ofProject(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the file; default: compose.yaml, or another usual name', collected)
    .option(
      '-p, --project-name <name>',
      'the name of the project; default: that in the file, or the directory',
    )
    .option('--env-file <file>', 'variables for the file; default: .env beside it')
    .option('--with-profile <name>', 'services with this profile too; default: COMPOSE_PROFILES', collected)
}
