import { entriesOf, one, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { parseMegabytes } from '../instance/port-text.ts'
import type { Column } from '../output.ts'
import { identified, queryOf, tellEach } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'

type Volume = Entry<'GetVolumesAnswer'>

export function addVolumeCommands({ program, session }: CommandLine): void {
  const volume = program.command('volume').description('data that outlives its instance')
  volume
    .command('ls [volumes...]')
    .description('list volumes')
    .action(async (names: readonly string[]) => list(await session(), names))
  volume
    .command('create [name]')
    .description('create a volume')
    .requiredOption('--size <size>', 'its size, such as 64M or 10G', parseMegabytes)
    .action(async (name: string | undefined, { size }: { readonly size: number }) => {
      const open = await session()
      const body = { size_mb: size, ...(name !== undefined && { name }) }
      const made = one(await open.client.POST('/v1/volumes', { body }))
      open.answer({ json: made, text: `${made.name} is created` })
    })
  volume
    .command('attach <volume> <instance> <path>')
    .description('attach a volume to a stopped instance; it is mounted at its next start')
    .option('--readonly', 'the instance only reads')
    .action(async (object: string, instance: string, at: string, options: { readonly readonly?: true }) => {
      const open = await session()
      const body = { attach_to: identified(instance), at, readonly: options.readonly === true }
      const params = { path: { object } }
      const done = one(await open.client.PUT('/v1/volumes/{object}/attach', { params, body }))
      open.answer({ json: done, text: `${done.name} is attached to ${instance}` })
    })
  volume
    .command('detach <volumes...>')
    .description('detach volumes from their stopped instances')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const answer = await open.client.PUT('/v1/volumes/detach', { body: names.map(identified) })
      tellEach(open, entriesOf(answer), ({ name }) => `${name} is detached`)
    })
  addVolumeEnds({ volume, session })
}

function addVolumeEnds({
  volume,
  session,
}: Pick<CommandLine, 'session'> & { readonly volume: CommandLine['program'] }): void {
  volume
    .command('inspect <volume>')
    .description('show everything that the API says of a volume')
    .action(async (object: string) => {
      const open = await session()
      const found = one(await open.client.GET('/v1/volumes/{object}', { params: { path: { object } } }))
      open.answer({ json: found, text: JSON.stringify(found, undefined, 2) })
    })
  volume
    .command('rm <volumes...>')
    .description('delete volumes, and what is on them')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const answer = await open.client.DELETE('/v1/volumes', { params: { query: queryOf(names) } })
      tellEach(open, entriesOf(answer), ({ name }) => `${name} is deleted`)
    })
}

async function list(session: Session, names: readonly string[]): Promise<void> {
  const shape: readonly Column<Volume>[] = [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    { title: 'STATE', text: ({ state = '' }) => state },
    { title: 'SIZE', text: ({ size_mb: size }) => `${size} MiB` },
    {
      title: 'INSTANCE',
      text: ({ attached_to: to = [] }) => to.map(({ name }) => name).join(','),
      shrinks: true,
    },
    { title: 'WHY', text: ({ reason = '' }) => reason, shrinks: true },
  ]
  const params = { query: queryOf(names) }
  session.list(succeeded(await session.client.GET('/v1/volumes', { params })), shape)
}
