import { Type } from 'typebox'
import { instanceStates } from '../../domain/instance/state.ts'
import { LeasePhase } from '../../domain/standby/host-lease-phase.ts'
import { explanationFields, noteField } from '../explanation.ts'
import { closed, count, statusSuccess, timestampField, uuidField, vocabulary } from '../fields.ts'

/** An instance's lease as its host sees it: what keeps the instance awake, and what keeps it asleep. */
const lease = closed(
  {
    phase: vocabulary(Object.values(LeasePhase), 'What the host does with the instance.'),
    awake: Type.Boolean(),
    leases: count('Gateways that may send traffic to it.'),
    requests: count('HTTP requests in flight.'),
    connections: count('Connections without HTTP.'),
    queued: count('Requests and connections that wait.'),
    disabled: Type.Boolean({ description: 'The instance itself speaks against standby.' }),
    idle_since: Type.Optional(timestampField),
    held_back: Type.Optional(
      Type.Boolean({ description: 'It could sleep, but waits for its turn among those of its user.' }),
    ),
    wake_failure: Type.Optional(
      closed(
        { message: Type.String(), retry_at: timestampField },
        { description: 'Why the last wake failed, and when the next try is permitted.' },
      ),
    ),
    stalled_since: Type.Optional(timestampField),
    no_room: Type.Optional(
      closed(
        { at: timestampField, needed_mb: count('Memory to be kept.'), left_mb: count('Room on the disk.') },
        { description: 'The last standby that failed, because the disk had no room for the memory.' },
      ),
    ),
  },
  { description: 'What its host says; absent if it does not answer, or if the instance never started.' },
)

export const explainedInstance = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: Type.String({ description: 'Name of the instance.' }),
  state: vocabulary(instanceStates, 'Current state.'),
  ...explanationFields,
  note: noteField,
  host: Type.String({ description: 'The host on which it is placed.' }),
  placed: Type.Optional(
    Type.String({
      description: 'Why it is on that host; absent if that is not known, or if there was no other.',
    }),
  ),
  move: Type.Optional(
    Type.String({
      description:
        'What a move to another host does, or why the last one failed; absent if there is nothing to tell.',
    }),
  ),
  lease: Type.Optional(lease),
  volume: Type.Optional(
    closed(
      { now: explanationFields.now, next: explanationFields.next, failure: explanationFields.failure },
      { description: 'Its volume, if something is the matter with that.' },
    ),
  ),
})
