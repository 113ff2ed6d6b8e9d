import { Type } from 'typebox'
import { hostIdRule } from '../../domain/part-name.ts'
import { hostRoles } from '../../domain/host/role.ts'
import { vcpusPerProcessor } from '../../domain/host/placement.ts'
import { HostState } from '../../domain/host/explanation.ts'
import { upgradeStates } from '../../domain/host/upgrade.ts'
import { hostLabelKey, hostLabelValue, maxHostLabels } from '../../domain/host/labels.ts'
import { instanceStates } from '../../domain/instance/state.ts'
import { explanationFields } from '../explanation.ts'
import {
  closed,
  count,
  optionalAll,
  statusSuccess,
  timestampField,
  uuidField,
  vocabulary,
} from '../fields.ts'
import { defaultBalancingMoves, maxBalancingMoves } from '../limits.ts'

const hostName = Type.String({ description: 'The id under which it joined.' })

const role = vocabulary(hostRoles, 'One thing that a machine does besides running instances.')

const byState = closed(
  optionalAll(
    Object.fromEntries(instanceStates.map((state) => [state, count('Instances in this state.')])) as Record<
      (typeof instanceStates)[number],
      ReturnType<typeof count>
    >,
  ),
  { description: 'Instances by state, without those that are being deleted.' },
)

const upgrade = closed(
  {
    state: vocabulary(
      upgradeStates,
      'Under way: `exchanging`, or `going-back` after a failure. Over: `done`, `went-back`, or `cut-off` if the platform of the machine ended in the middle.',
    ),
    from: Type.Optional(Type.String({ description: 'The version before. Absent: it did not say it.' })),
    to: Type.String({ description: 'The version that takes over.' }),
    began_at: timestampField,
    ended_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'When it was over. Absent: it is under way.' }),
    ),
    progress: Type.Optional(
      closed(
        {
          part: Type.String({ description: 'The part whose turn it is.' }),
          exchanged: count('Parts that are of the next version.'),
          parts: count('All parts.'),
        },
        { description: 'How far it is. Absent: it is over, or no part has had its turn yet.' },
      ),
    ),
    why: Type.Optional(Type.String({ description: 'Why it goes back, or went back.' })),
  },
  {
    description:
      "The upgrade of its machine that is under way, or the last one, by the host's own clock. Absent: it told none.",
  },
)

const host = {
  name: hostName,
  state: vocabulary(
    Object.values(HostState),
    'Whether its heartbeats come, have stopped, it was declared lost, or an administrator released its id.',
  ),
  heard_at: timestampField,
  cordoned_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'When an administrator cordoned it; nothing new is placed there since. Absent: it is not cordoned.',
    }),
  ),
  drain: Type.Optional(
    closed(
      {
        since: timestampField,
        to_move: count('Instances that are to move to other hosts.'),
      },
      {
        description:
          'How far the host is emptied. Absent: it is not to be emptied, or nothing is left on it.',
      },
    ),
  ),
  upgrade: Type.Optional(upgrade),
  lost_at: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'When it was declared lost; its instances without volumes begin on other hosts since. Absent: it is not lost.',
    }),
  ),
  term_ms: Type.Optional(
    count(
      'For how long its VMs go on without an answer of the API, in milliseconds. Absent: they do not end by themselves, so it never counts as lost.',
    ),
  ),
  labels: Type.Record(Type.String(), Type.String(), {
    description: 'What administrators noted about it. Nothing is decided by them.',
  }),
  roles: Type.Array(role, {
    description:
      'What its machine does besides running instances. `gateway`: it takes public traffic as the first machine does; `api`, `worker`: it runs one, with PostgreSQL and Temporal of your own.',
  }),
  instances: byState,
  memory_mb: count('Memory that its instances may take together.'),
  used_memory_mb: count('Memory of the instances that have a VM.'),
  promised_memory_mb: count('Memory that is needed if all its instances that are not stopped run at once.'),
  cpus: Type.Optional(count('Processors of the machine. Absent: its agent does not tell.')),
  promised_vcpus: count(
    `vCPUs of its instances that are not stopped. One processor may be promised to ${vcpusPerProcessor} of them.`,
  ),
  volumes: count('Volumes, with those that are being deleted.'),
  volume_mb: count('Room for volumes.'),
  promised_volume_mb: count('Size of all its volumes.'),
}

/** The entry of a host. `status` is left out if all hosts are listed. */
export const hostDetails = closed({
  status: Type.Optional(statusSuccess),
  ...host,
  version: Type.String({ description: 'The version of Roost that it runs.' }),
  accelerator: Type.String({ description: 'How it runs VMs: `kvm`, or `tcg`, which is slower.' }),
  subnet: Type.String({ description: 'The private network of its instances.' }),
  agent_url: Type.String({ description: 'Where its agent is reached by the other parts of the platform.' }),
})

export const balanceQuery = closed({
  most: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxBalancingMoves,
      description: `Most moves to return; default ${defaultBalancingMoves}.`,
    }),
  ),
})

const fullnessText =
  'The share of its scarcest resource, memory or processors, that is promised to instances. More than 100: more than there is.'

const fullness = (when: string) =>
  closed(
    {
      host: hostName,
      percent_before: Type.Integer({ minimum: 0, description: fullnessText }),
      percent_after: Type.Integer({ minimum: 0, description: 'The same after the move.' }),
    },
    { description: when },
  )

export const balancingMove = closed({
  status: statusSuccess,
  uuid: uuidField,
  name: Type.String({ description: 'The name of the instance.' }),
  from: fullness('The host that it leaves.'),
  to: fullness('The host where it would be.'),
})

export const explainedHost = closed({ status: statusSuccess, ...host, ...explanationFields })

const labelKey = Type.String({ pattern: hostLabelKey })

export const labelBody = closed({
  set: Type.Optional(
    Type.Record(labelKey, Type.String({ pattern: hostLabelValue }), {
      maxProperties: maxHostLabels,
      additionalProperties: false,
      description: 'Labels to be set; a label with one of these keys is replaced.',
      'x-place': 'labels',
    }),
  ),
  remove: Type.Optional(
    Type.Array(labelKey, {
      maxItems: maxHostLabels,
      description: 'Keys of labels to be removed; one that is not there is no error.',
    }),
  ),
})

export const invitationBody = closed({
  name: Type.Optional(
    Type.String({
      maxLength: 63,
      description: `The id that the host will have: ${hostIdRule}. Absent: \`h2\`, \`h3\` and so on.`,
    }),
  ),
  roles: Type.Optional(
    Type.Array(role, {
      uniqueItems: true,
      maxItems: hostRoles.length,
      description:
        'What the machine will do besides running instances. With a role it joins cordoned. Absent: nothing.',
    }),
  ),
})

export const invitation = closed({
  status: statusSuccess,
  name: hostName,
  roles: Type.Array(role, { description: 'What the machine will do besides running instances.' }),
  address: Type.String({ description: 'Where the machine finds this installation.' }),
  token: Type.String({ description: 'What the machine shows when it joins. It is not shown again.' }),
  expires_at: timestampField,
})

/** An invitation that waits for its machine. `status` is left out if all of them are listed. */
export const openInvitation = closed({
  status: Type.Optional(statusSuccess),
  name: Type.String({ description: 'The id that the host will have.' }),
  roles: Type.Array(role, { description: 'What the machine will do besides running instances.' }),
  created_at: timestampField,
  expires_at: timestampField,
})

export const removalBody = closed({
  lost: Type.Optional(
    Type.Boolean({
      description:
        'If true, its machine never comes back: it is lost at once, its instances without volumes begin on other hosts, and its volumes are lost.',
    }),
  ),
})

export const removedHost = closed({ status: statusSuccess, name: hostName })

/** The entry of a host that was removed. */
export const goneHost = closed({
  status: statusSuccess,
  name: hostName,
  lost: Type.Optional(
    closed(
      {
        moving: count('Instances that begin on other hosts.'),
        waiting: count('Instances with volumes, which are lost with it.'),
        volumes: count('Volumes, which are lost with it.'),
        term_ms: Type.Optional(
          count(
            'Within which time its VMs end, if the machine still runs, in milliseconds. Absent: they do not.',
          ),
        ),
        text: Type.String({ description: 'All of this in words.' }),
      },
      {
        description:
          'What follows if it was removed as lost. It is listed until nothing is on it any more. Absent: it is gone.',
      },
    ),
  ),
})
