import type { Command } from 'commander'
import { one } from '../../client/answers.ts'
import { maxConnectionLimit, maxPort } from '../../contract/limits.ts'
import { parseDomain, parsePort } from '../instance/port-text.ts'
import { collected, identified, numberOption, usage } from '../session.ts'
import type { CommandLine, Session } from '../session.ts'
import { publicUrls } from './public-url.ts'

interface SetOptions {
  readonly softLimit?: number
  readonly hardLimit?: number
  readonly publish?: readonly string[]
  readonly unpublish?: readonly string[]
  readonly addDomain?: readonly string[]
  readonly removeDomain?: readonly string[]
}

const ports = { min: 1, max: maxPort }
const limits = { min: 1, max: maxConnectionLimit }

export function addServiceSetCommand(service: Command, session: CommandLine['session']): void {
  service
    .command('set <service>')
    .description('change ports, domains and limits of a service, while its instances go on')
    .option('--soft-limit <number>', 'wake another instance above it', numberOption('--soft-limit', limits))
    .option('--hard-limit <number>', 'the most requests per instance', numberOption('--hard-limit', limits))
    .option(
      '--publish <public:own>',
      'publish a port, such as 443:8080, in place of what it leads to; several times',
      collected,
    )
    .option('--unpublish <public>', 'do not publish a port any more; several times', collected)
    .option(
      '--add-domain <name[=certificate]>',
      'add a public name, or give it another certificate; several times',
      collected,
    )
    .option(
      '--remove-domain <name>',
      'take a public name away, and leave its certificate; several times',
      collected,
    )
    .action(async (object: string, options: SetOptions) => change(await session(), object, options))
}

async function change(session: Session, object: string, options: SetOptions): Promise<void> {
  if (Object.keys(options).length === 0) {
    throw usage('there is nothing to change: give an option, such as --publish 443:8080')
  }
  const { publish = [], unpublish = [], addDomain = [], removeDomain = [] } = options
  const readPort = numberOption('--unpublish', ports)
  const body = {
    ...(options.softLimit !== undefined && { soft_limit: options.softLimit }),
    ...(options.hardLimit !== undefined && { hard_limit: options.hardLimit }),
    add: { services: publish.map(parsePort), domains: addDomain.map(parseNewDomain) },
    del: {
      services: unpublish.map((text) => readPort(text)),
      domains: removeDomain.map((text) => parseDomain(text).name),
    },
  }
  const params = { path: { object } }
  const changed = one(await session.client.PATCH('/v1/services/{object}', { params, body }))
  const urls = changed.changed.includes('domains') ? await publicUrls(session.client, changed.domains) : []
  const what =
    changed.changed.length === 0
      ? 'nothing changed'
      : `${changed.name} is changed: ${changed.changed.map(wordOf).join(', ')}`
  session.answer({ json: changed, text: [what, ...urls].join('\n') })
}

/** Reads a domain with or without the certificate that it gets: `shop.example.com=shop-2026`. */
function parseNewDomain(text: string): {
  readonly name: string
  readonly certificate?: ReturnType<typeof identified>
} {
  const [, name = '', certificate] = /^([^=]+)(?:=(.+))?$/.exec(text) ?? []
  if (name === '') throw usage(`'${text}' is no domain: expected <name>[=<certificate>]`)
  return { ...parseDomain(name), ...(certificate !== undefined && { certificate: identified(certificate) }) }
}

const words: Readonly<Record<string, string>> = {
  soft_limit: 'soft limit',
  hard_limit: 'hard limit',
  services: 'ports',
}

function wordOf(property: string): string {
  return words[property] ?? property
}
