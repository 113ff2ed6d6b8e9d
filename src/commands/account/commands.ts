import { entriesOf, one, succeeded } from '../../client/answers.ts'
import type { Entry, Schemas } from '../../client/answers.ts'
import { maxTokenLifetimeSeconds } from '../../contract/limits.ts'
import { ageText } from '../output.ts'
import type { Column } from '../output.ts'
import { collected, numberOption, tellEach } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'

type Token = Entry<'GetTokensAnswer'>
type Quotas = Entry<'GetQuotasAnswer'>

interface CreateOptions {
  readonly label?: string
  readonly scope?: readonly string[]
  readonly service?: readonly string[]
  readonly days?: number
}

const daySeconds = 86_400

export function addAccountCommands({ program, session }: CommandLine): void {
  program
    .command('quota')
    .description('show what the account uses, and how much it may')
    .action(async () => quota(await session()))
  const token = program.command('token').description('the tokens of the account')
  token
    .command('ls')
    .description('list tokens, without their secrets')
    .action(async () => list(await session()))
  token
    .command('create')
    .description('create a token and write it, once')
    .option('--label <text>', 'what the token is for')
    .option('--scope <scope>', 'read, operate, images:push or metrics; default: all rights', collected)
    .option('--service <service>', 'only for this service; several times', collected)
    .option(
      '--days <number>',
      'it expires after so many days',
      numberOption('--days', { min: 1, max: maxTokenLifetimeSeconds / daySeconds }),
    )
    .action(async (options: CreateOptions) => create(await session(), options))
  token
    .command('rm <uuids...>')
    .description('end tokens, within a second everywhere')
    .action(async (uuids: readonly string[]) => {
      const open = await session()
      const body = uuids.map((uuid) => ({ uuid }))
      const entries = entriesOf(await open.client.DELETE('/v1/tokens', { body }))
      tellEach(open, entries, ({ uuid }) => `${uuid} is not valid any more`)
    })
}

async function create(session: Session, { label, scope, service, days }: CreateOptions): Promise<void> {
  const body = {
    ...(label !== undefined && { label }),
    ...(scope !== undefined && { scopes: scope }),
    ...(service !== undefined && { services: service }),
    ...(days !== undefined && { lifetime_s: days * daySeconds }),
  } as Schemas['CreateTokensObject']
  const made = one(await session.client.POST('/v1/tokens', { body }))
  session.tell(`token ${made.uuid}; it is not shown again:`)
  session.answer({ json: made, text: made.token })
}

async function list(session: Session): Promise<void> {
  const nowMs = Date.now()
  const shape: readonly Column<Token>[] = [
    { title: 'UUID', text: ({ uuid }) => uuid },
    { title: 'LABEL', text: ({ label }) => label, shrinks: true },
    { title: 'SCOPES', text: ({ scopes }) => scopes?.join(',') ?? 'all', shrinks: true },
    { title: 'SERVICES', text: ({ services }) => services?.join(',') ?? 'all', shrinks: true },
    { title: 'EXPIRES', text: ({ expires_at: at }) => at ?? 'never', shrinks: true },
    { title: 'USED', text: ({ last_used_at: at }) => ageText(at, nowMs) || 'never' },
  ]
  session.list(succeeded(await session.client.GET('/v1/tokens')), shape)
}

/** The quotas with what people call them, in the order in which they are shown. */
const quotaTitles = {
  instances: 'instances',
  live_instances: 'live instances',
  live_vcpus: 'live processors',
  live_memory_mb: 'live memory (MiB)',
  service_groups: 'services',
  services: 'ports',
  volumes: 'volumes',
  total_volume_mb: 'volumes (MiB)',
  registry_mb: 'registry (MiB)',
  snapshot_mb: 'kept memory (MiB)',
  image_mb: 'images on a host (MiB)',
} as const satisfies Record<keyof Quotas['used'], string>

async function quota(session: Session): Promise<void> {
  const { client, deps } = session
  const quotas = one(await client.GET('/v1/users/quotas', { signal: deps.signal }))
  const rows = Object.entries(quotaTitles) as readonly [keyof Quotas['used'], string][]
  const shape: readonly Column<readonly [keyof Quotas['used'], string]>[] = [
    { title: 'QUOTA', text: ([, title]) => title },
    { title: 'USED', text: ([key]) => String(quotas.used[key]) },
    { title: 'OF', text: ([key]) => String(quotas.hard[key]) },
  ]
  if (session.wantsJson) session.answer({ json: quotas, text: '' })
  else session.list(rows, shape)
}
