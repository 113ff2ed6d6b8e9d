import { ApiFailure, FailureCode } from '../../client/api-failure.ts'
import { ExplainedKind, readExplanation } from '../../client/explanation.ts'
import { CommandFailure, ExitCode } from '../command-failure.ts'
import type { CommandLine, Session } from '../session.ts'

/** The kinds among which an object is looked for by its name, in this order. */
const searched = [
  ExplainedKind.Instance,
  ExplainedKind.Service,
  ExplainedKind.Volume,
  ExplainedKind.Certificate,
] as const

export function addExplainCommand({ program, session }: CommandLine): void {
  program
    .command('explain <object>')
    .description('say why an instance, service, volume or certificate is as it is, and what comes next')
    .action(async (object: string) => explain(await session(), object, searched))
}

/** Writes the explanation of the first object of these kinds that has the name. */
export async function explain(
  session: Session,
  object: string,
  kinds: readonly ExplainedKind[],
): Promise<void> {
  for (const kind of kinds) {
    try {
      const explanation = await readExplanation(session.client, { kind, object })
      session.answer({ json: explanation, text: explanation.text })
      return
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.facts.code !== FailureCode.NotFound) throw error
    }
  }
  throw new CommandFailure(`nothing is named '${object}'`, { exitCode: ExitCode.NotFound })
}
