import type { Command } from 'commander'
import { createUser, listUsers, setQuotas } from '../../db/account/users.ts'
import type { UserRecord, UserRefusal } from '../../db/account/users.ts'
import { table } from '../../primitives/text-table.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer, moment } from '../output.ts'
import type { OutputOptions } from '../output.ts'
import { addQuotaOptions, crossedLimitsText, quotasOf } from './quota-options.ts'
import type { QuotaOptions } from './quota-options.ts'

export function addUserCommands(program: Command, deps: CliDeps): void {
  const user = program.command('user').description('accounts and what they may hold')
  const create = user
    .command('create <name>')
    .description('create an account; its name is the namespace of its images')
    .option('--admin', 'may push official images')
    .option('--json', 'answer in JSON')
    .action((name: string, options: CreateOptions) => createAccount(deps, name, options))
  addQuotaOptions(create)
  user
    .command('list')
    .description('list accounts with their quotas, and what their images take in the registry')
    .option('--json', 'answer in JSON')
    .action((options: OutputOptions) => listAccounts(deps, options))
  const setQuota = user
    .command('set-quota <name>')
    .description('change what an account may hold; what it holds already is not touched')
    .option('--json', 'answer in JSON')
    .action((name: string, options: OutputOptions & QuotaOptions) => changeQuotas(deps, name, options))
  addQuotaOptions(setQuota)
}

type CreateOptions = OutputOptions & QuotaOptions & { readonly admin?: true }

async function createAccount(deps: CliDeps, name: string, options: CreateOptions): Promise<void> {
  const { hard, limits } = quotasOf(options)
  const wanted = { name, admin: options.admin ?? false, hard, limits }
  const outcome = await deps.withDatabase((database) => createUser(database, wanted))
  if (!outcome.ok) throw new CliFailure(refusalText(name, outcome.refusal))
  const { user } = outcome
  answer(deps, options, { json: userJson(user), text: `user ${user.name} created (${user.uuid})` })
}

function refusalText(name: string, refusal: UserRefusal): string {
  if (refusal.kind === 'crossed-limits') return crossedLimitsText(refusal)
  if (refusal.kind === 'name-taken') return `there is a user '${name}' already`
  return (
    `'${name}' can not be a user's name: 1 to 63 letters, digits and single hyphens, a letter first, ` +
    `a letter or digit last; 'official' is reserved`
  )
}

async function listAccounts(deps: CliDeps, options: OutputOptions): Promise<void> {
  const users = await deps.withDatabase((database) => listUsers(database))
  const rows = users.map((user) => [
    user.name,
    user.uuid,
    user.admin ? 'yes' : 'no',
    String(user.hard.instances),
    String(user.hard.liveInstances),
    String(user.hard.liveMemoryMb),
    `${registryMb(user)} of ${user.hard.registryMb}`,
    moment(user.createdAt),
  ])
  const head = ['NAME', 'UUID', 'ADMIN', 'INSTANCES', 'LIVE', 'LIVE MEMORY MB', 'REGISTRY MB', 'CREATED']
  answer(deps, options, { json: users.map(userJson), text: table([head, ...rows]) })
}

async function changeQuotas(
  deps: CliDeps,
  name: string,
  options: OutputOptions & QuotaOptions,
): Promise<void> {
  const quotas = quotasOf(options)
  if (Object.keys({ ...quotas.hard, ...quotas.limits }).length === 0) {
    throw new CliFailure(
      'nothing to change: give at least one quota, see `roost admin user set-quota --help`',
    )
  }
  const outcome = await deps.withDatabase((database) => setQuotas(database, name, quotas))
  if (!outcome.ok) {
    const { refusal } = outcome
    throw new CliFailure(
      refusal.kind === 'no-user' ? `there is no user '${name}'` : crossedLimitsText(refusal),
    )
  }
  const { user } = outcome
  answer(deps, options, { json: userJson(user), text: `quotas of ${user.name} changed` })
}

function userJson(user: UserRecord): unknown {
  const { uuid, name, admin, createdAt, hard, limits } = user
  const used = { registryMb: registryMb(user) }
  return { uuid, name, admin, createdAt: createdAt.toISOString(), used, hard, limits }
}

const bytesPerMb = 1_048_576

function registryMb({ registryBytes }: UserRecord): number {
  return Math.ceil(registryBytes / bytesPerMb)
}
