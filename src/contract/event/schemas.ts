import { Type } from 'typebox'
import { AskerKind } from '../../domain/event/asker.ts'
import { UserEventKind } from '../../domain/event/user-event-kind.ts'
import { closed, timestampField, uuidField, vocabulary } from '../fields.ts'
import { defaultEventCount, maxEventCount } from '../limits.ts'

const kinds = Object.values(UserEventKind)
const types = [...new Set(kinds.map((kind) => kind.split('.', 1)[0]!))]

const filterFields = {
  kind: Type.Optional(
    vocabulary([...kinds, ...types], 'Only events of this kind, or of this type of object.'),
  ),
  object: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Only events of the object with this UUID or name.',
    }),
  ),
  by: Type.Optional(vocabulary(Object.values(AskerKind), 'Only events that this one caused.')),
}

const eventId = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

export const eventQuery = closed({
  ...filterFields,
  since: Type.Optional(Type.String({ format: 'date-time', description: 'Only events from this time on.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Only events before this time.' })),
  before: Type.Optional(eventId('Only events before the one with this id.')),
  after: Type.Optional(
    eventId('Only events after the one with this id, the oldest first; 0 stands before all events.'),
  ),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxEventCount,
      description: `Most events to return; default ${defaultEventCount}.`,
    }),
  ),
})

export const eventStreamQuery = closed({
  ...filterFields,
  last_event_id: Type.Optional(
    eventId(
      'The id of the last event that the client has; 0 for the oldest that is kept. Absent: events from now on. The header ' +
        '`Last-Event-ID` counts before it.',
    ),
  ),
})

export const eventEntry = closed({
  id: eventId('Identifier of the event.'),
  at: timestampField,
  kind: vocabulary(kinds, 'What happened.'),
  object: closed({
    type: vocabulary(types, 'Type of the object.'),
    uuid: Type.Optional(uuidField),
    name: Type.String({ description: 'Name of the object. Images and hosts have only this.' }),
  }),
  from: Type.Optional(Type.String({ description: 'The state before.' })),
  to: Type.Optional(Type.String({ description: 'The state from then on.' })),
  why: Type.String({ description: 'The reason, for people.' }),
  by: closed({
    kind: vocabulary(Object.values(AskerKind), 'Who caused it.'),
    name: Type.Optional(Type.String({ description: 'The label of the token, or its UUID.' })),
  }),
  request_id: Type.Optional(
    Type.String({ description: 'The `X-Request-Id` of the request that asked for it.' }),
  ),
  facts: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      description: 'Numbers and words about it, for programs.',
    }),
  ),
})
