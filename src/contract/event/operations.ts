import { TokenScope } from '../../domain/account/token-scope.ts'
import { noParameters } from '../fields.ts'
import { DataKey, Scope, defineOperation } from '../operation.ts'
import { eventEntry, eventQuery, eventStreamQuery } from './schemas.ts'

export const listEvents = defineOperation({
  id: 'listEvents',
  method: 'GET',
  path: '/v1/events',
  scope: Scope.Account,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'event list filter',
  body: noParameters,
  query: eventQuery,
  dataKey: DataKey.Events,
  entry: eventEntry,
  summary: 'Events of the account',
  description:
    'What happened to the objects of the account, the newest first. With `after` the oldest come first, and a client that ' +
    'goes on with the last id misses none.',
})

export const followEvents = defineOperation({
  id: 'followEvents',
  method: 'GET',
  path: '/v1/events/stream',
  scope: Scope.Account,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'event stream filter',
  body: noParameters,
  query: eventStreamQuery,
  streams: true,
  dataKey: DataKey.Events,
  entry: eventEntry,
  summary: 'Follow the events of the account',
  description:
    'Server-sent events of the type `event` with an `id`, as they happen. A client that connects again with ' +
    '`Last-Event-ID` gets every event once. An event of the type `gap` says that events after that id are not kept any ' +
    'more, and with which id the stream goes on.',
})
