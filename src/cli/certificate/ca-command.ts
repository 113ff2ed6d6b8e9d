import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer } from '../output.ts'
import type { OutputOptions } from '../output.ts'

export function addCaCommand(program: Command, deps: CliDeps): void {
  program
    .command('ca')
    .description('print the root certificate of the local authority, for clients to trust')
    .option('--path', 'only print the name of its file')
    .option(
      '--custom-domains',
      'print the root of the other authority, which issues certificates of custom domains',
    )
    .option('--json', 'answer in JSON')
    .action((options: CaOptions) =>
      options.customDomains ? customDomainsRoot(deps, options) : ca(deps, options),
    )
}

interface CaOptions extends OutputOptions {
  readonly path?: true
  readonly customDomains?: true
}

async function ca(deps: CliDeps, options: CaOptions): Promise<void> {
  const { file, metroDomain } = deps.authority
  if (file === undefined) {
    throw new CliFailure(
      'the certificate of the metro domain comes from ROOST_METRO_CERT_FILE; clients have to trust its issuer',
    )
  }
  const certificate = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CliFailure(unreadable(file, error), { cause: error })
  })
  if (!options.json) deps.note(howToTrust(metroDomain, file))
  answer(deps, options, {
    json: { metroDomain, file, certificate },
    text: options.path ? file : certificate.trimEnd(),
  })
}

async function customDomainsRoot(deps: CliDeps, options: CaOptions): Promise<void> {
  if (options.path) {
    throw new CliFailure(
      `the root for custom domains is kept in the database; 'roost admin ca --custom-domains > FILE' makes a file of it`,
    )
  }
  const found = await deps.authority.customDomains()
  if ('directory' in found) {
    throw new CliFailure(
      `certificates of custom domains come from ${found.directory} (ROOST_ACME_DIRECTORY_URL); Roost does not have its root, and whether clients trust it does not depend on Roost`,
    )
  }
  if (!options.json) deps.note(whatTrustMeans)
  answer(deps, options, { json: found, text: found.certificate.trimEnd() })
}

const whatTrustMeans = `A machine that trusts this root lets anybody who runs this installation, or has its database and secret key, pretend to be any site
there is, not only those that are served here. So trust it only on machines of your own.
`

function unreadable(file: string, error: NodeJS.ErrnoException): string {
  return error.code === 'ENOENT'
    ? `there is no ${file} yet: the gateway makes it at its first start (npm start); ROOST_DATA_DIR and ROOST_METRO_DOMAIN say where`
    : `${file} can not be read (${error.code ?? error.message}); only the user who runs the gateway can`
}

function howToTrust(metroDomain: string, file: string): string {
  const debian = '/usr/local/share/ca-certificates/roost.crt'
  return `To trust it for ${metroDomain} and the names below:
  curl             curl --cacert ${file}
  Debian, Ubuntu   npx roost admin ca | sudo tee ${debian} > /dev/null && sudo update-ca-certificates
  browsers         have a list of their own: Firefox under Settings, Certificates, Authorities; Chrome at chrome://certificate-manager
  Node             NODE_EXTRA_CA_CERTS=${file}
It can vouch for no other site. Certificates of custom domains come from another authority: roost admin ca --custom-domains
`
}
