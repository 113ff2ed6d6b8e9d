import type { Command } from 'commander'
import type { SeenAutoscale } from '../../control/autoscale-control.ts'
import { ControlUnavailable } from '../../control/control-unavailable.ts'
import { searchAutoscaled } from '../../db/autoscale/search.ts'
import type { OwnedAutoscale } from '../../db/autoscale/search.ts'
import type { Database } from '../../db/database.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { autoscaleFacts } from '../../explain/autoscale/facts.ts'
import { autoscaleText } from '../../explain/autoscale/text.ts'
import { controlSilent, recordedOnly } from '../../explain/explanation-text.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

type OfUser = OutputOptions & { readonly user?: string }

export function addAutoscaleExplainCommand(autoscale: Command, deps: CliDeps): void {
  autoscale
    .command('explain <service>')
    .description(
      'say of a service (name or UUID) how it is scaled, what was done and why, and what comes next',
    )
    .option('--user <name>', 'the user whose service it is, if several have one of that name')
    .option('--json', 'answer in JSON')
    .action((wanted: string, options: OfUser) => explain(deps, wanted, options))
}

async function explain(deps: CliDeps, wanted: string, { user, ...options }: OfUser): Promise<void> {
  await deps.withDatabase(async (database) => {
    const service = await requireService(database, wanted, user)
    const seen = service.configuration === null ? undefined : await readSeen(deps, service.serviceUuid)
    const facts = await autoscaleFacts(database, { service, ...(seen && { seen }), nowMs: Date.now() })
    answer(deps, options, { json: facts, text: autoscaleText(facts) })
  })
}

/**
 * Returns what the service's watch saw. If the workflow does not answer, it returns undefined, and only the
 * recorded rows are shown.
 */
async function readSeen(deps: CliDeps, serviceUuid: string): Promise<SeenAutoscale | undefined> {
  try {
    return await deps.withControl((control) => control.autoscales.seen(serviceUuid))
  } catch (error) {
    if (!(error instanceof ControlUnavailable || error instanceof CliFailure)) throw error
    deps.note(`${recordedOnly(controlSilent)}\n`)
    return undefined
  }
}

async function requireService(
  database: Database,
  wanted: string,
  userName?: string,
): Promise<OwnedAutoscale> {
  const found = await searchAutoscaled(database, {
    uuidOrName: parseObjectName(wanted) ?? wanted,
    ...(userName === undefined ? {} : { userName }),
  })
  const [first] = found
  if (first === undefined)
    throw new CliFailure(`there is no service '${wanted}'${userName === undefined ? '' : ` of ${userName}`}`)
  if (found.length > 1) {
    const owners = found.map(({ userName: owner }) => owner).join(', ')
    throw new CliFailure(`several users have a service '${wanted}': ${owners}; name one with --user`)
  }
  return first
}
