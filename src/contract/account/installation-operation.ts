import { Type } from 'typebox'
import { tokenScopes } from '../../domain/account/token-scope.ts'
import { closed, count, noParameters, statusSuccess } from '../fields.ts'
import { DataKey, Scope, defineOperation } from '../operation.ts'

export const getInstallation = defineOperation({
  id: 'getInstallation',
  method: 'GET',
  path: '/v1/installation',
  scope: Scope.Account,
  tokenScopes,
  withinServices: true,
  place: 'installation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Installations,
  entry: closed({
    status: statusSuccess,
    metro_domain: Type.String({ description: 'The domain below which services get their public names.' }),
    public_port_offset: count('Is added to each public port: port 443 is found at 443 and this.'),
    registry: Type.String({ description: 'The address to which images are pushed.' }),
  }),
  summary: 'What clients have to know of the installation',
  description: 'How its services and its registry are reached. The answer has one entry.',
})
