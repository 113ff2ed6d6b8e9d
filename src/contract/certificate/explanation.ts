import { Type } from 'typebox'
import { CertificateOrigin, CertificateState } from '../../domain/service/handler.ts'
import { explanationFields } from '../explanation.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'

const sentences = (description: string) => Type.Array(Type.String(), { description })

const attempt = closed({
  number: count('The attempts of a certificate are numbered.'),
  started_at: timestampField,
  ended_at: Type.Optional(timestampField),
  authority: Type.Optional(Type.String({ description: 'The authority that was asked.' })),
  outcome: Type.Optional(Type.String({ description: 'How it ended, such as `issued` or `failed`.' })),
  failure: Type.Optional(Type.String({ description: 'Why it did not succeed.' })),
  problem: Type.Optional(
    closed(
      { type: Type.String(), detail: Type.String(), status: Type.Optional(Type.Integer()) },
      { description: 'The problem as the authority wrote it.' },
    ),
  ),
  seen: sentences('What was seen: DNS, CAA records, ports and answers.'),
  means: sentences('What that means.'),
  to_do: sentences('What to do, the likeliest to help first.'),
})

export const explainedCertificate = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: Type.String({ description: 'Name of the certificate.' }),
  state: vocabulary(Object.values(CertificateState), 'Current state.'),
  common_name: Type.String({ description: 'Without a final dot.' }),
  origin: vocabulary(Object.values(CertificateOrigin), 'Whether it was uploaded or is got by the platform.'),
  ...explanationFields,
  attempts: Type.Array(attempt, { description: 'The last attempts to get it, the newest first.' }),
})
