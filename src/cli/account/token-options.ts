import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import { RightsFlaw, TokenScope, findRightsFlaw, tokenScopes } from '../../domain/account/token-scope.ts'
import type { TokenRights } from '../../domain/account/token-scope.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { CliFailure } from '../cli-failure.ts'

/** The options about what a token permits and for how long, as commander hands them over. */
export interface RightsOptions {
  readonly scope?: readonly TokenScope[]
  readonly service?: readonly string[]
  readonly expires?: Date
}

/** Adds the options. Each of the first two may be given several times. */
export function addRightsOptions(command: Command): Command {
  const scopes = `${tokenScopes.join(', ')}; may be repeated (default: all rights)`
  return command
    .option('--scope <scope>', `what the token may be used for: ${scopes}`, collected(readScope))
    .option(
      '--service <name>',
      'limit it to this service; may be repeated, needs --scope',
      collected(readName),
    )
    .option('--expires <when>', 'a time such as 2027-01-31T00:00:00Z, or 30d, 12h, 45m from now', readExpiry)
}

const flawTexts: Readonly<Record<RightsFlaw, string>> = {
  [RightsFlaw.LimitedWithoutScopes]:
    '--service needs --scope: a token with all rights can not be limited to services',
  [RightsFlaw.LimitedPush]: `--service does not go with --scope ${TokenScope.ImagesPush}: images belong to the whole account`,
}

/** The rights that the options ask for. Throws `CliFailure` if no token can have them. */
export function rightsOf({ scope, service }: RightsOptions): TokenRights {
  const rights = { scopes: scope ?? null, services: service ?? null }
  const flaw = findRightsFlaw(rights)
  if (flaw !== undefined) throw new CliFailure(flawTexts[flaw])
  return rights
}

function collected<T>(read: (text: string) => T): (text: string, before?: readonly T[]) => readonly T[] {
  return (text, before = []) => [...new Set([...before, read(text)])]
}

function readScope(text: string): TokenScope {
  const scope = tokenScopes.find((known) => known === text)
  if (scope === undefined) throw new InvalidArgumentError(`It must be one of ${tokenScopes.join(', ')}.`)
  return scope
}

function readName(text: string): string {
  const name = parseObjectName(text)
  if (name === undefined) throw new InvalidArgumentError('It must be the name of a service.')
  return name
}

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a time in the future: a date with a time and a zone, or how far from now it is. */
function readExpiry(text: string): Date {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  const isTime = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text)
  if (count === undefined && !isTime) {
    throw new InvalidArgumentError(
      'It must be a time such as 2027-01-31T00:00:00Z, or such as 30d, 12h or 45m.',
    )
  }
  const at = count === undefined ? new Date(text) : new Date(Date.now() + Number(count) * unitMs[unit]!)
  if (!(at.getTime() > Date.now())) throw new InvalidArgumentError('It must be a time in the future.')
  return at
}
