import { Type } from 'typebox'
import { TokenScope, tokenScopes } from '../../domain/account/token-scope.ts'
import { closed, nameField, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'
import { maxTokenLabelLength, maxTokenLifetimeSeconds, maxTokenServices } from '../limits.ts'

// The schemas of requests and answers about tokens.

/**
 * The rule that a token is limited to services only if it has scopes, and none that is about images.
 * `findRightsFlaw` checks it.
 */
const limitedHasScopes = {
  anyOf: [
    { properties: { services: { type: 'null' } } },
    {
      required: ['scopes'],
      properties: {
        scopes: {
          type: 'array',
          items: { enum: tokenScopes.filter((one) => one !== TokenScope.ImagesPush) },
        },
      },
    },
  ],
}

export const createTokenBody = closed(
  {
    label: Type.Optional(
      Type.String({ maxLength: maxTokenLabelLength, description: 'What the token is for.' }),
    ),
    scopes: Type.Optional(
      Type.Array(vocabulary(tokenScopes, 'Scope.'), {
        minItems: 1,
        maxItems: tokenScopes.length,
        description: 'What the token may be used for; default everything, also tokens.',
      }),
    ),
    services: Type.Optional(
      Type.Array(nameField, {
        minItems: 1,
        maxItems: maxTokenServices,
        description:
          'Names of services; the token sees and touches only these and their instances. Needs `scopes`.',
      }),
    ),
    lifetime_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxTokenLifetimeSeconds,
        description: 'After how many seconds the token expires; default never.',
      }),
    ),
    developer: Type.Optional(
      Type.Boolean({
        description:
          'Whether it sees the inner times of a start, which only a token that sees them can give.',
      }),
    ),
  },
  { 'x-published': limitedHasScopes },
)

const label = Type.String({ description: 'What the token is for.' })

const tokenFields = {
  uuid: uuidField,
  label,
  scopes: Type.Optional(
    Type.Array(vocabulary(tokenScopes, 'Scope.'), { description: 'Absent: the token has all rights.' }),
  ),
  services: Type.Optional(
    Type.Array(Type.String(), { description: 'Names. Absent: the token is not limited to services.' }),
  ),
  developer: Type.Boolean({ description: 'Whether it sees the inner times of a start.' }),
  created_at: timestampField,
  expires_at: Type.Optional(
    Type.String({ format: 'date-time', description: 'Absent: the token does not expire.' }),
  ),
  last_used_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Up to a minute too early. Absent: the token was never used.',
    }),
  ),
}

/** The entry of a new token. No other answer has the token itself. */
export const createdToken = closed({
  status: statusSuccess,
  ...tokenFields,
  token: Type.String({ description: 'The token itself. It can not be read again.' }),
})
/** The entry with all fields of a token. `status` is left out if all tokens are listed. */
export const tokenDetails = closed({ status: Type.Optional(statusSuccess), ...tokenFields })
export const revokedToken = closed({ status: statusSuccess, uuid: uuidField, label })
