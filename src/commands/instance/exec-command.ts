import type { ExecTerminal } from '../../domain/instance/exec-protocol.ts'
import { ApiFailure } from '../../client/api-failure.ts'
import { CommandFailure, ownFailureCode, ProgramEnd, toldFailure } from '../command-failure.ts'
import type { CommandLine, Session } from '../session.ts'
import { openExec } from './exec-socket.ts'
import { ExecTalk } from './exec-talk.ts'

interface ExecOptions {
  /** Absent: the program gets a terminal if the command has one for its input and its output. */
  readonly tty?: boolean
}

export function addExecCommand({ program, session }: CommandLine): void {
  program
    .command('exec <instance> <program> [args...]')
    .usage('[options] <instance> -- <program> [args...]')
    .description('run a program in an instance, beside its application')
    .showHelpAfterError('(options of the program come after --, as in: roost exec web -- ls -l)')
    .option('-t, --tty', 'give the program a terminal; default: if the command has one')
    .option('-T, --no-tty', 'give the program no terminal')
    .addHelpText(
      'after',
      '\nEnds with the exit code of the program, or with 128 and the number of its signal: 126 if the program can not' +
        '\nbe executed, 127 if it is not there, and 125 if the command itself fails.',
    )
    .action(async (object: string, name: string, args: readonly string[], options: ExecOptions) => {
      throw new ProgramEnd(await run(await session(), object, { argv: [name, ...args], ...options }))
    })
}

async function run(
  session: Session,
  object: string,
  { argv, tty }: ExecOptions & { readonly argv: readonly string[] },
): Promise<number> {
  const { access, deps } = session
  try {
    const terminal = terminalFor(session, tty)
    const socket = await openExec(access, object, 'exec')
    return await new ExecTalk(socket, deps).run({
      type: 'run',
      argv,
      ...(terminal && { terminal, ...termOf(deps.environment['TERM']) }),
    })
  } catch (error) {
    const told = error instanceof ApiFailure ? toldFailure(error) : error
    if (!(error instanceof ApiFailure || error instanceof CommandFailure)) throw error
    deps.note(`roost: ${(told as { message: string }).message}\n`)
    return ownFailureCode
  }
}

function terminalFor({ deps }: Session, wanted: boolean | undefined): ExecTerminal | undefined {
  if (wanted === false) return undefined
  const size = deps.terminal.size()
  if (wanted === undefined) return deps.terminal.isInteractive ? size : undefined
  return size ?? { rows: 24, columns: 80 }
}

/** A name that no terminal has is left out, and the guest takes its default. */
function termOf(term: string | undefined): { readonly term?: string } {
  return term !== undefined && /^[\w.+-]{1,64}$/.test(term) ? { term } : {}
}
