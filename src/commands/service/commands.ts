import { entriesOf, one, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { maxConnectionLimit } from '../../contract/limits.ts'
import { CommandFailure } from '../command-failure.ts'
import { parseDomain, parsePort } from '../instance/port-text.ts'
import { addServiceUsageCommand } from '../instance/usage-command.ts'
import type { Column } from '../output.ts'
import { collected, numberOption, queryOf, tellEach } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { publicUrls } from './public-url.ts'
import { addServiceSetCommand } from './set-command.ts'

type Service = Entry<'GetServicesAnswer'>

interface CreateOptions {
  readonly port?: readonly string[]
  readonly domain?: readonly string[]
  readonly soft?: number
  readonly hard?: number
}

export function addServiceCommands({ program, session }: CommandLine): void {
  const service = program
    .command('service')
    .description('ports and domains under which instances are published')
  service
    .command('ls [services...]')
    .description('list services')
    .action(async (names: readonly string[]) => list(await session(), names))
  service
    .command('create [name]')
    .description('create a service')
    .option('-p, --port <public:own>', 'publish a port, such as 443:8080; several times', collected)
    .option('--domain <name>', 'a public name: one label, or a name of your own with dots', collected)
    .option(
      '--soft <number>',
      'wake another instance above it',
      numberOption('--soft', { min: 1, max: maxConnectionLimit }),
    )
    .option(
      '--hard <number>',
      'the most requests per instance',
      numberOption('--hard', { min: 1, max: maxConnectionLimit }),
    )
    .action(async (name: string | undefined, options: CreateOptions) =>
      create(await session(), name, options),
    )
  service
    .command('inspect <service>')
    .description('show everything that the API says of a service')
    .action(async (object: string) => {
      const open = await session()
      const found = one(await open.client.GET('/v1/services/{object}', { params: { path: { object } } }))
      open.answer({ json: found, text: JSON.stringify(found, undefined, 2) })
    })
  addServiceSetCommand(service, session)
  addServiceUsageCommand(service, session)
  service
    .command('rm <services...>')
    .description('delete services')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const answer = await open.client.DELETE('/v1/services', { params: { query: queryOf(names) } })
      tellEach(open, entriesOf(answer), ({ name }) => `${name} is deleted`)
    })
}

async function list(session: Session, names: readonly string[]): Promise<void> {
  const shape: readonly Column<Service>[] = [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    { title: 'PORTS', text: portsText, shrinks: true },
    {
      title: 'DOMAINS',
      text: ({ domains = [] }) => domains.map(({ fqdn }) => fqdn).join(','),
      shrinks: true,
    },
    {
      title: 'INSTANCES',
      text: ({ instances = [] }) => instances.map(({ name }) => name).join(','),
      shrinks: true,
    },
    { title: 'AUTOSCALE', text: ({ autoscale }) => (autoscale ? 'yes' : 'no') },
  ]
  const params = { query: queryOf(names) }
  session.list(succeeded(await session.client.GET('/v1/services', { params })), shape)
}

function portsText({ services = [] }: Service): string {
  return services
    .map(({ port, destination_port: own, handlers }) => `${port}:${own}/${handlers.join('+')}`)
    .join(',')
}

async function create(session: Session, name: string | undefined, options: CreateOptions): Promise<void> {
  const body = {
    ...(name !== undefined && { name }),
    services: (options.port ?? []).map(parsePort),
    domains: (options.domain ?? []).map(parseDomain),
    ...(options.soft !== undefined && { soft_limit: options.soft }),
    ...(options.hard !== undefined && { hard_limit: options.hard }),
  }
  const made = one(await session.client.POST('/v1/services', { body }))
  const urls = await publicUrls(session.client, made.domains)
  session.answer({ json: made, text: [`${made.name} is created`, ...urls].join('\n') })
}

export function addOpenCommand({ program, session }: CommandLine): void {
  program
    .command('open <object>')
    .description('show the public page of an instance or a service in the browser')
    .option('--print', 'only print its address')
    .action(async (object: string, { print }: { readonly print?: true }) => {
      const open = await session()
      const [url = ''] = await publicUrls(open.client, [await domainOf(open, object)])
      const shown = !print && !open.wantsJson && (await open.deps.openBrowser(url))
      open.answer({ json: { url }, text: shown ? '' : url })
    })
}

async function domainOf({ client }: Session, object: string): Promise<{ readonly fqdn: string }> {
  const params = { path: { object } }
  const [instance] = entriesOf(await client.GET('/v1/instances/{object}', { params }))
  const isInstance = instance !== undefined && instance.status !== 'error'
  const domains = isInstance
    ? instance.service_group?.domains
    : one(await client.GET('/v1/services/{object}', { params })).domains
  const domain = domains?.find(({ fqdn }) => !fqdn.startsWith('*'))
  if (domain !== undefined) return domain
  throw new CommandFailure(`${object} has no public name: create it with --port 443:<its port>`)
}
