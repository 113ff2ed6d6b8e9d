import { Type } from 'typebox'
import { maxLabelLength } from '../../domain/object-name.ts'
import { closed, count, statusSuccess, timestampField, uuidField } from '../fields.ts'
import { givenQuotas, quotaFields } from './quota-schemas.ts'

// The schemas of requests and answers about accounts, for administrators.

export const createUserBody = closed({
  name: Type.String({
    minLength: 1,
    maxLength: maxLabelLength,
    // `parseUserName` checks it: its sentence says more than the validator's.
    'x-published': { pattern: '^[A-Za-z](?:-?[A-Za-z0-9])*$' },
    description:
      'The namespace of its images: letters, digits and single hyphens, a letter first; upper case is lowered.',
  }),
  ...givenQuotas,
})

export const setQuotasBody = closed(givenQuotas)

const userFields = {
  uuid: uuidField,
  name: Type.String(),
  admin: Type.Boolean({ description: 'Whether it is an administrator.' }),
  created_at: timestampField,
  ...quotaFields,
  tokens: count('Tokens that are neither revoked nor expired.'),
  last_used_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When one of its tokens was last used, up to a minute too early. Absent: never.',
    }),
  ),
}

/** The entry of an account. `status` is left out if all accounts are listed. */
export const userDetails = closed({ status: Type.Optional(statusSuccess), ...userFields })
/** The entry of a new account. No other answer has the token. */
export const createdUser = closed({
  status: statusSuccess,
  ...userFields,
  token: Type.String({ description: 'Its first token, with all rights. It can not be read again.' }),
})
