import { entriesOf, one, succeeded } from '../../client/answers.ts'
import type { Entry } from '../../client/answers.ts'
import { ExplainedKind } from '../../client/explanation.ts'
import { explain } from '../instance/explain-command.ts'
import type { Column } from '../output.ts'
import { queryOf, tellEach } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'

type Certificate = Entry<'GetCertificatesAnswer'>

interface UploadOptions {
  readonly chain: string
  readonly key: string
  readonly name?: string
}

const maxPemBytes = 1_000_000

export function addCertCommands({ program, session }: CommandLine): void {
  const cert = program.command('cert').description('certificates of domains of your own')
  cert
    .command('ls [certificates...]')
    .description('list certificates')
    .action(async (names: readonly string[]) => list(await session(), names))
  cert
    .command('upload <domain>')
    .description('upload a certificate, as wildcards need it')
    .requiredOption('--chain <file>', 'the certificate and those above it, in PEM')
    .requiredOption('--key <file>', 'its private key in PEM, or - for standard input')
    .option('--name <name>', 'its name')
    .action(async (domain: string, options: UploadOptions) => upload(await session(), domain, options))
  cert
    .command('inspect <certificate>')
    .description('show everything that the API says of a certificate')
    .action(async (object: string) => {
      const open = await session()
      const found = one(await open.client.GET('/v1/certificates/{object}', { params: { path: { object } } }))
      open.answer({ json: found, text: JSON.stringify(found, undefined, 2) })
    })
  cert
    .command('explain <certificate>')
    .description('say how a certificate stands, what was tried, and what to do')
    .action(async (object: string) => explain(await session(), object, [ExplainedKind.Certificate]))
  cert
    .command('rm <certificates...>')
    .description('delete certificates')
    .action(async (names: readonly string[]) => {
      const open = await session()
      const answer = await open.client.DELETE('/v1/certificates', { params: { query: queryOf(names) } })
      tellEach(open, entriesOf(answer), ({ name }) => `${name} is deleted`)
    })
}

async function upload(session: Session, domain: string, options: UploadOptions): Promise<void> {
  const { client, deps } = session
  const body = {
    cn: domain,
    chain: await deps.readFile(options.chain, maxPemBytes),
    pkey: await deps.readFile(options.key, maxPemBytes),
    ...(options.name !== undefined && { name: options.name }),
  }
  const made = one(await client.POST('/v1/certificates', { body }))
  session.answer({ json: made, text: `${made.name} is uploaded` })
}

async function list(session: Session, names: readonly string[]): Promise<void> {
  const shape: readonly Column<Certificate>[] = [
    { title: 'NAME', text: ({ name }) => name, shrinks: true },
    { title: 'DOMAIN', text: ({ common_name: domain = '' }) => domain, shrinks: true },
    { title: 'STATE', text: ({ state = '' }) => state },
    { title: 'UNTIL', text: ({ not_after: until = '' }) => until },
    { title: 'NEXT', text: ({ validation }) => validation?.next ?? '' },
    { title: 'WHY', text: ({ reason = '' }) => reason, shrinks: true },
  ]
  const params = { query: queryOf(names) }
  session.list(succeeded(await session.client.GET('/v1/certificates', { params })), shape)
}
