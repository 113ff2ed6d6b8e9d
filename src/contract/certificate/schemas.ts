import { Type } from 'typebox'
import { commonNamePattern, maxDomainLength } from '../../domain/service/domain-name.ts'
import { CertificateState } from '../../domain/service/handler.ts'
import { closed, count, nameField, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'
import { maxChainLength, maxPrivateKeyLength } from '../limits.ts'

// The schemas of requests and answers about certificates. `src/x509` checks their PEM.

/** The longest name of a certificate, including dots that clients append. */
const maxCommonNameLength = maxDomainLength + 2

const contents = {
  chain: Type.String({
    minLength: 1,
    maxLength: maxChainLength,
    description:
      'PEM: the certificate and those that lead to its issuer, in any order. The root can be left out.',
  }),
  pkey: Type.String({
    minLength: 1,
    maxLength: maxPrivateKeyLength,
    writeOnly: true,
    description: 'PEM: the private key, RSA or EC, without a passphrase. It is never returned.',
  }),
}

export const createCertificateBody = closed({
  name: Type.Optional(nameField),
  cn: Type.String({
    minLength: 1,
    maxLength: maxCommonNameLength,
    'x-published': { pattern: commonNamePattern },
    description:
      'Common name: the domain that it is for, or a wildcard of one label; a final dot says nothing.',
  }),
  ...contents,
})

export const replaceCertificateBody = closed(contents)

export const certificateFilterBody = closed({
  common_name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: maxCommonNameLength,
      description: 'Only certificates with exactly this common name.',
    }),
  ),
})

const certificateName = Type.String({ description: 'Name of the certificate.' })

export const certificateIdentity = closed({ uuid: uuidField, name: certificateName })
/** The entry of a certificate that was uploaded or deleted. */
export const changedCertificate = closed({ status: statusSuccess, uuid: uuidField, name: certificateName })

/** The entry with all fields of a certificate. `status` is left out if all certificates are listed. */
export const certificateDetails = closed({
  status: Type.Optional(statusSuccess),
  uuid: uuidField,
  name: certificateName,
  created_at: Type.Optional(timestampField),
  common_name: Type.Optional(Type.String({ description: 'Without a final dot.' })),
  state: Type.Optional(vocabulary(Object.values(CertificateState), 'Current state.')),
  reason: Type.Optional(
    Type.String({
      description: 'Why the state is `error`, or the last attempt to get or renew the certificate failed.',
    }),
  ),
  validation: Type.Optional(
    closed(
      {
        attempt: count('Attempts made.'),
        next: Type.Optional(Type.String({ format: 'date-time', description: 'The next attempt.' })),
      },
      { description: 'Only while the state is `pending`.' },
    ),
  ),
  subject: Type.Optional(Type.String({ description: 'As in RFC 4514.' })),
  issuer: Type.Optional(Type.String({ description: 'As in RFC 4514.' })),
  serial_number: Type.Optional(Type.String({ description: 'Hexadecimal, in upper case.' })),
  not_before: Type.Optional(timestampField),
  not_after: Type.Optional(timestampField),
  service_groups: Type.Optional(
    Type.Array(closed({ uuid: uuidField, name: Type.String() }), {
      description: 'Services with domains that it serves.',
    }),
  ),
})
