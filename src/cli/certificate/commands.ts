import type { Command } from 'commander'
import { ControlUnavailable } from '../../control/control-unavailable.ts'
import { lastAttempts } from '../../db/certificate/attempts.ts'
import { overlookCertificates, searchCertificates } from '../../db/certificate/search.ts'
import type { OwnedCertificate } from '../../db/certificate/search.ts'
import { certificateSettings } from '../../db/certificate/settings.ts'
import type { Database } from '../../db/database.ts'
import { CertificateOrigin, CertificateState } from '../../domain/service/handler.ts'
import { table } from '../../primitives/text-table.ts'
import { explanationOf, textOfExplanation } from '../../explain/certificate/explanation.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer, moment } from '../output.ts'
import type { OutputOptions } from '../output.ts'

type OfUser = OutputOptions & { readonly user?: string }

export function addCertCommands(program: Command, deps: CliDeps): void {
  const cert = program.command('cert').description('certificates of custom domains')
  cert
    .command('list')
    .description('list certificates, uploaded and requested')
    .option('--user <name>', 'only certificates of this user')
    .option('--json', 'answer in JSON')
    .action((options: OfUser) => list(deps, options))
  cert
    .command('explain <certificate>')
    .description(
      'say of a certificate (name, UUID or domain) how it stands, what was tried and seen, and what to do',
    )
    .option('--user <name>', 'the user whose certificate it is, if several have one of that name')
    .option('--json', 'answer in JSON')
    .action((wanted: string, options: OfUser) => explain(deps, wanted, options))
  cert
    .command('retry <certificate>')
    .description(
      'try again at once for a certificate (name, UUID or domain) that waits for its next attempt or was given up',
    )
    .option('--user <name>', 'the user whose certificate it is, if several have one of that name')
    .option('--json', 'answer in JSON')
    .action((wanted: string, options: OfUser) => retry(deps, wanted, options))
}

async function list(deps: CliDeps, { user, ...options }: OfUser): Promise<void> {
  const certificates = await deps.withDatabase((database) =>
    overlookCertificates(database, user === undefined ? {} : { userName: user }),
  )
  const head = ['NAME', 'UUID', 'USER', 'DOMAIN', 'ORIGIN', 'STATE', 'UNTIL', 'NEXT', 'WHY']
  const rows = certificates.map((certificate) => [
    certificate.name,
    certificate.uuid,
    certificate.userName,
    certificate.commonName,
    certificate.origin,
    certificate.state,
    moment(certificate.notAfter),
    moment(certificate.nextAt),
    certificate.failure ?? '-',
  ])
  answer(deps, options, { json: certificates, text: table([head, ...rows]) })
}

async function explain(deps: CliDeps, wanted: string, { user, ...options }: OfUser): Promise<void> {
  await deps.withDatabase(async (database) => {
    const certificate = await requireCertificate(database, wanted, user)
    const explanation = explanationOf(certificate, await lastAttempts(database, certificate.uuid), Date.now())
    const { uuid, name, commonName, origin, state } = certificate
    answer(deps, options, {
      json: { uuid, name, commonName, origin, state, ...explanation },
      text: textOfExplanation(explanation),
    })
  })
}

async function retry(deps: CliDeps, wanted: string, { user, ...options }: OfUser): Promise<void> {
  const certificate = await deps.withDatabase((database) => requireCertificate(database, wanted, user))
  requireTriable(certificate)
  await deps.withControl(async (control) => {
    await control.certificates.retry(certificateSettings(certificate)).catch((error: unknown) => {
      if (!(error instanceof ControlUnavailable)) throw error
      throw new CliFailure('the control plane does not answer: is the stack running?', { cause: error })
    })
  })
  const { uuid, name, commonName } = certificate
  answer(deps, options, {
    json: { uuid, name, trying: true },
    text: `${name} is tried for ${commonName} now; \`roost admin cert explain ${name}\` says how it goes`,
  })
}

function requireTriable({ name, origin, state, attempt }: OwnedCertificate): void {
  if (origin === CertificateOrigin.Uploaded) {
    throw new CliFailure(`certificate '${name}' was uploaded: its user has to upload the next one, too`)
  }
  if (state === CertificateState.Valid && attempt === 0) {
    throw new CliFailure(
      `certificate '${name}' is valid and renewed by itself: there is nothing to try again`,
    )
  }
}

async function requireCertificate(
  database: Database,
  wanted: string,
  userName?: string,
): Promise<OwnedCertificate> {
  const found = await searchCertificates(database, {
    uuidNameOrDomain: wanted,
    ...(userName === undefined ? {} : { userName }),
  })
  const [first] = found
  if (first === undefined) {
    const whose = userName === undefined ? '' : ` of ${userName}`
    throw new CliFailure(`there is no certificate '${wanted}'${whose}, and none for such a domain`)
  }
  if (found.length > 1) {
    const names = found.map(({ name, userName: owner }) => `${name} of ${owner}`).join(', ')
    throw new CliFailure(
      `several certificates are '${wanted}': ${names}; name one by its UUID or with --user`,
    )
  }
  return first
}
