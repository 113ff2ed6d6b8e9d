import type { Command } from 'commander'
import type { Database } from '../../db/database.ts'
import { findByName } from '../../db/instance/search.ts'
import type { InstanceRow } from '../../db/instance/row.ts'
import { findByUuids } from '../../db/instance/instances.ts'
import { silentSinceOf } from '../../db/host/administration.ts'
import type { OwnedVolume } from '../../db/volume/search.ts'
import { explain } from '../../domain/instance/explanation.ts'
import type { Explanation } from '../../domain/instance/explanation.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { isUuid, parseObjectName } from '../../domain/object-name.ts'
import { VolumePhase } from '../../domain/volume/state.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { factsOf } from './explained-instance.ts'
import { explanationOf, findVolume } from '../volume/found-volume.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

type ExplainOptions = OutputOptions & { readonly user?: string }

export function addExplainCommand(program: Command, deps: CliDeps): void {
  program
    .command('explain <object>')
    .description(
      'say why an instance (name or UUID) is awake or asleep, or what a volume is doing, and what comes next',
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
    const whose = options.user === undefined ? '' : ` of ${options.user}`
    throw new CliFailure(`there is no instance '${wanted}'${whose}, and no volume`)
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
  const host = await deps.readHostLease(database, { uuid: row.uuid, nodeId: row.nodeId })
  if (typeof host === 'string') deps.note(`${host}; this is what is recorded:\n`)
  const drainUntilMs = row.state === InstanceState.Draining ? await readDrainUntil(deps, row.uuid) : undefined
  const silentSince = typeof host === 'string' ? await silentSinceOf(database, row.nodeId) : undefined
  const facts = {
    ...factsOf(row),
    ...(drainUntilMs === undefined ? {} : { drainUntilMs }),
    ...(silentSince === undefined ? {} : { hostSilentSinceMs: silentSince.getTime() }),
  }
  const explanation = explain(facts, typeof host === 'string' ? undefined : host, Date.now())
  const volume = row.volumeUuid === null ? undefined : await findVolume(database, row.volumeUuid)
  // Only volumes with trouble are listed, because a healthy volume explains nothing.
  const troubled =
    volume === undefined || volume.phase === VolumePhase.Ready ? undefined : explanationOf(volume)
  answer(deps, options, {
    json: { uuid: row.uuid, name: row.name, state: row.state, ...explanation, volume: troubled },
    text:
      troubled === undefined
        ? textOf(explanation)
        : `${textOf(explanation)}\nits volume: ${textOf(troubled)}`,
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
  const explanation = explanationOf(volume)
  const { uuid, name, deleting, state } = volume
  answer(deps, options, {
    json: { uuid, name, state: deleting ? 'deleting' : state, ...explanation },
    text: textOf(explanation),
  })
}

function textOf({ now, next, failure }: Explanation): string {
  const lines = [now, `next: ${next}`]
  if (failure !== undefined) lines.push(`the last try failed: ${failure}`)
  return lines.join('\n')
}
