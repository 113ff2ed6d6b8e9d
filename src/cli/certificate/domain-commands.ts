import type { Command } from 'commander'
import { findUser } from '../../db/account/users.ts'
import { parseCommonName } from '../../domain/service/domain-name.ts'
import { hasProof, proofRecord, proofText, proofZones } from '../../domain/service/domain-proof.ts'
import { table } from '../../primitives/text-table.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

export function addDomainCommands(program: Command, deps: CliDeps): void {
  const domain = program.command('domain').description('custom domains')
  domain
    .command('proof <domain>')
    .description('say which TXT record proves a custom domain for a user, and whether DNS has it')
    .requiredOption('--user <name>', 'the user who is to have the domain')
    .option('--json', 'answer in JSON')
    .action((name: string, options: ProofOptions) => proof(deps, name, options))
}

type ProofOptions = OutputOptions & { readonly user: string }

/** A TXT record that proves the ownership of the domain. One such record is enough. */
interface ShownRecord {
  readonly record: string
  readonly seen: 'yes' | 'no' | 'no answer'
}

async function proof(
  deps: CliDeps,
  name: string,
  { user: userName, ...options }: ProofOptions,
): Promise<void> {
  const parsed = parseCommonName(name)
  if (!parsed.ok) throw new CliFailure(`'${name}' is no custom domain: ${parsed.reason}`)
  const user = await deps.withDatabase((database) => findUser(database, userName))
  if (user === undefined) throw new CliFailure(`there is no user '${userName}'`)
  const { isAsked, tokens, textsOf } = deps.domainProof
  const { fqdn } = parsed.domain
  const text = proofText((await tokens())(user.uuid))
  const records = await Promise.all(
    proofZones(fqdn).map(async (zone): Promise<ShownRecord> => {
      const record = proofRecord(zone)
      const texts = await textsOf(record)
      return { record, seen: texts === undefined ? 'no answer' : hasProof(texts, text) ? 'yes' : 'no' }
    }),
  )
  const proved = records.some(({ seen }) => seen === 'yes')
  const rows = records.map(({ record, seen }) => [record, 'TXT', text, seen])
  answer(deps, options, {
    json: { domain: fqdn, user: userName, isAsked, proved, text, records },
    text: [
      proved ? `${fqdn} is proved for ${userName}.` : `One of these records proves ${fqdn} for ${userName}:`,
      table([['RECORD', 'TYPE', 'VALUE', 'IN DNS'], ...rows]),
      isAsked
        ? 'A user who takes a custom domain is asked for it (ROOST_DOMAIN_PROOF=txt).'
        : 'Nobody is asked for it now: ROOST_DOMAIN_PROOF is off.',
    ].join('\n'),
  })
}
