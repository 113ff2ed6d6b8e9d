import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import type { createCertificates } from '../../contract/certificate/operations.ts'
import type { OperationBody } from '../../contract/operation.ts'
import { shortened } from '../../contract/request/validation-problems.ts'
import type { NewCertificate } from '../../db/certificate/upload.ts'
import { parseCommonName } from '../../domain/service/domain-name.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { maxChainCertificates, readCertificateUpload } from '../../x509/certificate-upload.ts'
import type { UploadFlaw } from '../../x509/certificate-upload.ts'
import { maxRsaBits, minRsaBits } from '../../x509/private-key.ts'
import type { Read } from '../body-identifier.ts'
import { timestamp } from '../timestamp.ts'

export type CertificateBody = OperationBody<typeof createCertificates>

/** Reads the certificate that a body describes, or returns what is wrong with it. */
export async function readCertificate(
  body: CertificateBody,
  options: {
    /** The parameters' name in messages. */
    readonly place: string
    readonly userUuid: string
    readonly nowMs: number
    readonly chainsOf: (issuer: string) => Promise<readonly string[]>
  },
): Promise<Read<NewCertificate>> {
  const parsed = parseCommonName(body.cn)
  if (!parsed.ok) {
    const wrong = problem('invalidDnsName', { value: shortened(body.cn), reason: parsed.reason })
    return { ok: false, problems: [wrong] }
  }
  const { place, userUuid, nowMs, chainsOf } = options
  const commonName = parsed.domain.fqdn
  const read = await readCertificateUpload({
    commonName,
    chain: body.chain,
    pkey: body.pkey,
    nowMs,
    chainsOf,
  })
  if (!read.ok)
    return {
      ok: false,
      problems: [flawProblem(read.flaw, { cn: commonName, place: `${place} for '${commonName}'` })],
    }
  const name = body.name === undefined ? undefined : parseObjectName(body.name)
  const { chain, keyPem, facts } = read
  return {
    ok: true,
    value: { userUuid, commonName, chain, keyPem, facts, ...(name === undefined ? {} : { name }) },
  }
}

function flawProblem(
  flaw: UploadFlaw,
  { cn, place }: { readonly cn: string; readonly place: string },
): Problem {
  if (flaw.kind === 'other-name') {
    return problem('commonNameNotCovered', { place, cn, names: namesText(flaw) })
  }
  const say = sentences[flaw.kind] as (flaw: UploadFlaw) => Sentence
  return problem('invalidContent', { place, ...say(flaw) })
}

function namesText({ names, more }: Flaw<'other-name'>): string {
  if (names.length === 0) return 'no domain at all'
  const shown = names.map((name) => `'${shortened(name)}'`).join(', ')
  return more === 0 ? shown : `${shown} and ${more} more`
}

interface Sentence {
  readonly name: 'chain' | 'pkey'
  readonly reason: string
}

type Flaw<Kind extends UploadFlaw['kind']> = Extract<UploadFlaw, { readonly kind: Kind }>

/**
 * The table is total: a flaw without a sentence does not compile. Each sentence says what was found, and what
 * to do.
 */
const sentences: {
  readonly [Kind in Exclude<UploadFlaw['kind'], 'other-name'>]: (flaw: Flaw<Kind>) => Sentence
} = {
  'chain-not-pem': ({ flaw }) =>
    ofChain(notPem(flaw, 'CERTIFICATE', "convert it with 'openssl x509 -inform der'")),
  'chain-holds': ({ label }) =>
    label.includes('PRIVATE KEY')
      ? ofChain(`it holds a '${label}': that belongs in 'pkey'`)
      : ofChain(
          `it holds '${shortened(label)}', but only 'CERTIFICATE' can be in it: take it out or convert it`,
        ),
  'too-many': ({ count }) =>
    ofChain(
      `it holds ${count} certificates, but at most ${maxChainCertificates} can be in it: leave out those of other chains`,
    ),
  unreadable: ({ number }) =>
    ofChain(`certificate ${number} in it can not be read: copy it again from where it was issued`),
  'other-key': ({ subject }) =>
    ofKey(`it is not the key of the certificate '${subject}': give the one that its request was made with`),
  authority: ({ subject }) =>
    ofChain(
      `'${subject}' is the certificate of an authority over others (basicConstraints CA:TRUE), and browsers refuse it as ` +
        "a server's: issue one for the server with it by 'openssl x509 -req -in <request> -CA <it> -CAkey <its key> -copy_extensions " +
        "copy', or upload one that signed itself, as 'openssl req -x509' makes it, alone",
    ),
  'not-for-servers': ({ subject }) =>
    ofChain(`'${subject}' is not for servers (extendedKeyUsage lacks serverAuth): have one issued that is`),
  expired: ({ subject, at }) => ofChain(`'${subject}' expired at ${timestamp(at)}: upload a renewed one`),
  'not-yet-valid': ({ subject, at }) =>
    ofChain(`'${subject}' is not valid before ${timestamp(at)}: upload it then, or one that is valid now`),
  'issuer-missing': ({ subject, issuer, url }) =>
    ofChain(
      `the certificate of '${issuer}', which issued '${subject}', is missing: add it` +
        (url === undefined ? ', or leave out certificates of other chains' : `; it is at ${url}`),
    ),
  'weak-signature': ({ subject, algorithm }) =>
    ofChain(`'${subject}' is signed with '${algorithm}', which browsers refuse: have a new one issued`),
  unusable: ({ reason }) => ofChain(`it can not be used for TLS (${reason}): have a new one issued`),

  'key-not-pem': ({ flaw }) =>
    ofKey(notPem(flaw, 'PRIVATE KEY', "convert it with 'openssl pkey -inform der'")),
  'key-encrypted': () =>
    ofKey("it is encrypted: remove the passphrase with 'openssl pkey -in <file> -out <new file>'"),
  'key-holds': ({ labels }) => {
    const found = labels.map((label) => `'${shortened(label)}'`).join(', ')
    return ofKey(`it holds ${found}: expected one private key and nothing else`)
  },
  'key-unreadable': () =>
    ofKey("it can not be read as a private key: look at it with 'openssl pkey -check -noout -in <file>'"),
  'key-type': ({ type }) =>
    ofKey(
      `keys of type '${type}' are not supported, nor do browsers take them: use RSA or EC (P-256, P-384, P-521)`,
    ),
  'key-curve': ({ curve }) =>
    ofKey(`the curve '${curve}' is not supported: use P-256 (prime256v1), P-384 or P-521`),
  'key-bits': ({ bits }) =>
    ofKey(`an RSA key must have ${minRsaBits} to ${maxRsaBits} bits, this one has ${bits}`),
}

function ofChain(reason: string): Sentence {
  return { name: 'chain', reason }
}

function ofKey(reason: string): Sentence {
  return { name: 'pkey', reason }
}

function notPem(flaw: Flaw<'chain-not-pem'>['flaw'], label: string, convert: string): string {
  switch (flaw) {
    case 'no-pem':
      return `it is not PEM, which begins with '-----BEGIN ${label}-----': ${convert}`
    case 'unfinished':
      return 'its PEM is cut off or mixed up: each BEGIN line needs its END line'
    case 'escaped-lines':
      return 'the ends of its lines are a backslash and an n: send real line ends, in JSON one backslash and an n'
    default:
      return flaw satisfies never
  }
}
