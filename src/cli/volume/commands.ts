import type { Command } from 'commander'
import { ControlUnavailable } from '../../control/control-unavailable.ts'
import { VolumeGone } from '../../control/volume-control.ts'
import { overlookVolumes } from '../../db/volume/search.ts'
import type { OwnedVolume } from '../../db/volume/search.ts'
import { volumeSettings } from '../../db/volume/settings.ts'
import { VolumeUse } from '../../domain/volume/state.ts'
import { table } from '../../primitives/text-table.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { requireVolume } from './found-volume.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

type OfUser = OutputOptions & { readonly user?: string }

export function addVolumeCommands(program: Command, deps: CliDeps): void {
  const volume = program.command('volume').description('volumes')
  volume
    .command('list')
    .description('list volumes, including those that are being deleted')
    .option('--user <name>', 'only volumes of this user')
    .option('--json', 'answer in JSON')
    .action((options: OfUser) => list(deps, options))
  volume
    .command('repair <volume>')
    .description('let the host check a whole volume (name or UUID) and mend it, or try again to make it')
    .option('--user <name>', 'the user whose volume it is, if several have one of that name')
    .option('--json', 'answer in JSON')
    .action((wanted: string, options: OfUser) => repair(deps, wanted, options))
}

async function list(deps: CliDeps, { user, ...options }: OfUser): Promise<void> {
  const volumes = await deps.withDatabase((database) =>
    overlookVolumes(database, user === undefined ? {} : { userName: user }),
  )
  const head = ['NAME', 'UUID', 'USER', 'HOST', 'SIZE MB', 'STATE', 'INSTANCE', 'WHY']
  const rows = volumes.map((volume) => [
    volume.name,
    volume.uuid,
    volume.userName,
    volume.hostAway ? `${volume.nodeId} (silent)` : volume.nodeId,
    String(volume.sizeMb),
    volume.deleting ? 'deleting' : volume.state,
    volume.attachedTo?.name ?? '-',
    volume.failure ?? '-',
  ])
  answer(deps, options, { json: volumes, text: table([head, ...rows]) })
}

async function repair(deps: CliDeps, wanted: string, { user, ...options }: OfUser): Promise<void> {
  const volume = await deps.withDatabase((database) => requireVolume(database, wanted, user))
  requireAtRest(volume)
  await deps.withControl(async (control) => {
    await control.volumes.repair(volumeSettings(volume)).catch((error: unknown) => {
      if (error instanceof ControlUnavailable)
        throw new CliFailure('the control plane does not answer: is the stack running?', { cause: error })
      if (error instanceof VolumeGone) throw new CliFailure(`volume '${wanted}' is deleted`, { cause: error })
      throw error
    })
  })
  const { uuid, name, nodeId } = volume
  const text = `host ${nodeId} ${volume.made ? 'checks and mends' : 'makes'} ${name} now; \`roost admin explain ${uuid}\` says how it goes`
  answer(deps, options, { json: { uuid, name, repairing: true }, text })
}

function requireAtRest({ name, deleting, use, attachedTo }: OwnedVolume): void {
  if (deleting) throw new CliFailure(`volume '${name}' is being deleted`)
  if (use === VolumeUse.Live) {
    throw new CliFailure(`volume '${name}' is in use by instance '${attachedTo?.name}': stop that first`)
  }
}
