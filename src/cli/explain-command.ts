import type { Command } from 'commander'
import type { Database } from '../db/database.ts'
import { findByName } from '../db/instance/search.ts'
import type { InstanceRow } from '../db/instance/row.ts'
import { findByUuids } from '../db/instance/instances.ts'
import type { ServiceRow } from '../db/service/row.ts'
import { searchServices } from '../db/service/search.ts'
import type { OwnedVolume } from '../db/volume/search.ts'
import { isUuid, parseObjectName } from '../domain/object-name.ts'
import { explanationText } from '../explain/explanation-text.ts'
import { instanceExplanation, instanceNote, instanceText } from '../explain/instance/explanation.ts'
import { serviceExplanation, serviceText } from '../explain/service/explanation.ts'
import { volumeExplanation } from '../explain/volume/explanation.ts'
import type { CliDeps } from './cli-deps.ts'
import { CliFailure } from './cli-failure.ts'
import { findVolume } from './volume/found-volume.ts'
import { answer } from './output.ts'
import type { OutputOptions } from './output.ts'

type ExplainOptions = OutputOptions & { readonly user?: string }

export function addExplainCommand(program: Command, deps: CliDeps): void {
  program
    .command('explain <object>')
    .description(
      'say why an instance (name or UUID) is awake or asleep, what a volume is doing, or what a request to a service meets, and what comes next',
    )
    .option('--user <name>', 'the user whose object it is, if several have one of that name')
    .option('--json', 'answer in JSON')
    .action((wanted: string, options: ExplainOptions) => explainOne(deps, wanted, options))
}

async function explainOne(deps: CliDeps, wanted: string, options: ExplainOptions): Promise<void> {
  await deps.withDatabase(async (database) => {
    const row = await findInstance(database, wanted, options.user)
    if (row !== undefined) return explainInstance(deps, { database, row }, options)
    const volume = await findVolume(database, wanted, options.user)
    if (volume !== undefined) return answerVolume(deps, volume, options)
    const service = await findService(database, wanted, options.user)
    if (service !== undefined) return explainService(deps, { database, service }, options)
    const whose = options.user === undefined ? '' : ` of ${options.user}`
    throw new CliFailure(`there is no instance '${wanted}'${whose}, no volume and no service`)
  })
}

async function findInstance(
  database: Database,
  wanted: string,
  userName?: string,
): Promise<InstanceRow | undefined> {
  const name = parseObjectName(wanted) ?? wanted
  const found = isUuid(wanted)
    ? await findByUuids(database, [wanted])
    : await findByName(database, { name, ...(userName === undefined ? {} : { userName }) })
  if (found.length > 1) {
    throw new CliFailure(`several users have an instance '${wanted}': name one with --user`)
  }
  return found[0]
}

async function explainInstance(
  deps: CliDeps,
  { database, row }: { readonly database: Database; readonly row: InstanceRow },
  options: ExplainOptions,
): Promise<void> {
  const explanation = await instanceExplanation(database, row, {
    readLease: (instance) => deps.readHostLease(database, instance),
    readDrainUntil: (uuid) => readDrainUntil(deps, uuid),
    nowMs: Date.now(),
  })
  const note = instanceNote(explanation)
  if (note !== undefined) deps.note(`${note}\n`)
  answer(deps, options, {
    json: { uuid: row.uuid, name: row.name, state: row.state, ...explanation },
    text: instanceText(explanation),
  })
}

/**
 * Reads the time until which the instance drains, which only the instance's workflow knows. Without an
 * answer the explanation leaves it out.
 */
async function readDrainUntil(deps: CliDeps, uuid: string): Promise<number | undefined> {
  return deps.withControl((control) => control.instances.drainUntilMs(uuid)).catch(() => undefined)
}

function answerVolume(deps: CliDeps, volume: OwnedVolume, options: ExplainOptions): void {
  const explanation = volumeExplanation(volume)
  const { uuid, name, deleting, state } = volume
  answer(deps, options, {
    json: { uuid, name, state: deleting ? 'deleting' : state, ...explanation },
    text: explanationText(explanation),
  })
}

async function findService(
  database: Database,
  wanted: string,
  userName?: string,
): Promise<ServiceRow | undefined> {
  const found = await searchServices(database, {
    uuidOrName: parseObjectName(wanted) ?? wanted,
    ...(userName === undefined ? {} : { userName }),
  })
  if (found.length > 1) throw new CliFailure(`several users have a service '${wanted}': name one with --user`)
  return found[0]
}

async function explainService(
  deps: CliDeps,
  { database, service }: { readonly database: Database; readonly service: ServiceRow },
  options: ExplainOptions,
): Promise<void> {
  const rows = await findByUuids(
    database,
    service.instances.map(({ uuid }) => uuid),
  )
  const { reach, ...explanation } = await serviceExplanation(database, service, rows)
  const { uuid, name } = service
  answer(deps, options, {
    json: { uuid, name, state: reach, ...explanation },
    text: serviceText({ reach, ...explanation }),
  })
}
