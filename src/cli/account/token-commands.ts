import type { Command } from 'commander'
import { isUuid } from '../../domain/object-name.ts'
import { issueToken, listTokens, revokeToken } from '../../db/account/tokens.ts'
import type { TokenRecord } from '../../db/account/tokens.ts'
import { findUser } from '../../db/account/users.ts'
import type { WriteRefusal } from '../../db/refused.ts'
import { table } from '../../primitives/text-table.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer, moment } from '../output.ts'
import type { OutputOptions } from '../output.ts'
import { addRightsOptions, rightsOf } from './token-options.ts'
import type { RightsOptions } from './token-options.ts'

export function addTokenCommands(program: Command, deps: CliDeps): void {
  const token = program.command('token').description('API tokens')
  addRightsOptions(token.command('create <user>'))
    .description('create a token and print it, once: only its hash is kept')
    .option('--label <text>', 'what the token is for', '')
    .option('--developer', 'let its user also see the inner times of a start')
    .option('--json', 'answer in JSON')
    .action((user: string, options: CreateOptions) => create(deps, user, options))
  token
    .command('list')
    .description('list tokens, without their secrets')
    .option('--user <name>', 'only tokens of this user')
    .option('--json', 'answer in JSON')
    .action((options: ListOptions) => list(deps, options))
  token
    .command('revoke <uuid>')
    .description('make a token useless, within a second everywhere')
    .option('--json', 'answer in JSON')
    .action((uuid: string, options: OutputOptions) => revoke(deps, uuid, options))
}

type CreateOptions = OutputOptions & RightsOptions & { readonly label: string; readonly developer?: true }
type ListOptions = OutputOptions & { readonly user?: string }

async function create(deps: CliDeps, userName: string, options: CreateOptions): Promise<void> {
  const { label, developer = false, expires: expiresAt = null } = options
  const rights = rightsOf(options)
  const outcome = await deps.withDatabase(async (database) => {
    const user = await findUser(database, userName)
    if (!user) throw new CliFailure(`there is no user '${userName}'`)
    return issueToken(database, { userUuid: user.uuid, label, developer, rights, expiresAt })
  })
  if (!outcome.ok) throw new CliFailure(refusalText(userName, outcome.refusal))
  const { uuid } = outcome.record
  if (!options.json) deps.note(`token ${uuid} of ${userName}; it is not shown again:\n`)
  const json = { uuid, user: userName, label, developer, ...rights, expiresAt, token: outcome.token }
  answer(deps, options, { json, text: outcome.token })
}

function refusalText(userName: string, refusal: WriteRefusal): string {
  if (refusal.kind === 'service-not-found') return `${userName} has no service '${refusal.value}'`
  return `the token of ${userName} was refused: ${refusal.kind}`
}

async function list(deps: CliDeps, options: ListOptions): Promise<void> {
  const tokens = await deps.withDatabase(async (database) => {
    const { user } = options
    if (user !== undefined && !(await findUser(database, user))) {
      throw new CliFailure(`there is no user '${user}'`)
    }
    return listTokens(database, user)
  })
  const head = ['UUID', 'USER', 'LABEL', 'SCOPES', 'SERVICES', 'DEVELOPER']
  const times = ['CREATED', 'EXPIRES', 'LAST USED', 'REVOKED']
  const rows = tokens.map((token) => [
    token.uuid,
    token.userName,
    token.label === '' ? '-' : token.label,
    token.scopes?.join(',') ?? 'all',
    token.services?.join(',') ?? 'all',
    token.developer ? 'yes' : 'no',
    moment(token.createdAt),
    moment(token.expiresAt),
    moment(token.lastUsedAt),
    moment(token.revokedAt),
  ])
  answer(deps, options, { json: tokens.map(tokenJson), text: table([[...head, ...times], ...rows]) })
}

async function revoke(deps: CliDeps, uuid: string, options: OutputOptions): Promise<void> {
  const revoked = isUuid(uuid) && (await deps.withDatabase((database) => revokeToken(database, uuid)))
  if (!revoked)
    throw new CliFailure(`there is no token '${uuid}'; \`roost admin token list\` shows their uuids`)
  answer(deps, options, { json: { uuid, revoked: true }, text: `token ${uuid} revoked` })
}

function tokenJson(token: TokenRecord): unknown {
  const { userName, ...rest } = token
  return { user: userName, ...rest }
}
