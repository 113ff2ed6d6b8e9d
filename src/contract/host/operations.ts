import { TokenScope, noScopeSuffices } from '../../domain/account/token-scope.ts'
import { maxHostLabelLength, maxHostLabels } from '../../domain/host/labels.ts'
import { noParameters } from '../fields.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'
import {
  balanceQuery,
  balancingMove,
  explainedHost,
  goneHost,
  hostDetails,
  invitation,
  invitationBody,
  labelBody,
  openInvitation,
  removalBody,
  removedHost,
} from './responses.ts'

const forAdministrators =
  'For administrators. To any other account it looks as if there were no hosts. A host is named by the id under ' +
  'which it joined; one whose id is no name is only in the answer about all hosts.'

/** What is the same in both operations that change a cordon. */
const cordon = {
  method: 'PUT',
  scope: Scope.Objects,
  identifiedBy: ['name'],
  tokenScopes: noScopeSuffices,
  withinServices: false,
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: hostDetails,
} as const

export const getHosts = defineOperation({
  id: 'getHosts',
  method: 'GET',
  path: '/v1/hosts',
  localPath: '/v1/hosts/{object}',
  scope: Scope.ObjectsOrAll,
  identifiedBy: ['name'],
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'host status arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: hostDetails,
  summary: 'Status of hosts',
  description: forAdministrators,
})

export const explainHosts = defineOperation({
  id: 'explainHosts',
  method: 'GET',
  path: '/v1/hosts/explain',
  localPath: '/v1/hosts/{object}/explain',
  scope: Scope.ObjectsOrAll,
  identifiedBy: ['name'],
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'host explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: explainedHost,
  textForm: TextForm.Explanation,
  summary: 'Explain hosts',
  description: `Whether a host is heard, what it has and how much room is left, and what that means. ${forAdministrators}`,
})

export const cordonHosts = defineOperation({
  ...cordon,
  id: 'cordonHosts',
  path: '/v1/hosts/cordon',
  localPath: '/v1/hosts/{object}/cordon',
  place: 'host cordon arguments',
  summary: 'Place nothing new on hosts',
  description:
    'No new instance and no new volume is placed there from now on. What is there goes on, and restarts, wakes and starts ' +
    `there as before. A second cordon changes nothing, and a drain is taken back. ${forAdministrators}`,
})

export const uncordonHosts = defineOperation({
  ...cordon,
  id: 'uncordonHosts',
  path: '/v1/hosts/uncordon',
  localPath: '/v1/hosts/{object}/uncordon',
  place: 'host uncordon arguments',
  summary: 'Place new instances on hosts again',
  description: `Takes the cordon back, and a drain. It changes nothing if there is none. ${forAdministrators}`,
})

export const drainHosts = defineOperation({
  ...cordon,
  id: 'drainHosts',
  path: '/v1/hosts/drain',
  localPath: '/v1/hosts/{object}/drain',
  place: 'host drain arguments',
  summary: 'Empty hosts',
  description:
    'Cordons the host, and moves its instances to other hosts, some at a time, with their memory, their volumes and their ' +
    'addresses. This goes on by itself until no instance is left on the host; then it is only cordoned. Volumes that no instance ' +
    `has stay. A cordon or an uncordon takes it back: what has moved stays where it is. ${forAdministrators}`,
})

export const getBalance = defineOperation({
  id: 'getBalance',
  method: 'GET',
  path: '/v1/balance',
  scope: Scope.Account,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'balance arguments',
  body: noParameters,
  query: balanceQuery,
  dataKey: DataKey.Moves,
  entry: balancingMove,
  summary: 'Moves that make hosts more equally full',
  description:
    'In the order in which they are to be made; each counts on those before it. Nothing moves by this: `PUT /v1/instances/move` ' +
    'does it. Empty if no move is worth its pause. Hosts that are cordoned, or not heard, take no part. For administrators; to ' +
    'any other account it looks as if there were no hosts.',
})

export const labelHosts = defineOperation({
  id: 'labelHosts',
  method: 'PUT',
  path: '/v1/hosts/labels',
  localPath: '/v1/hosts/{object}/labels',
  scope: Scope.Objects,
  identifiedBy: ['name'],
  tokenScopes: noScopeSuffices,
  withinServices: false,
  place: 'host label arguments',
  body: labelBody,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: hostDetails,
  summary: 'Change labels of hosts',
  description:
    `A host has at most ${maxHostLabels} labels, with keys and values of at most ${maxHostLabelLength} characters. They are for ` +
    `people: no instance is placed by them. All other labels stay as they are. ${forAdministrators}`,
})

export const inviteHosts = defineOperation({
  id: 'inviteHosts',
  method: 'POST',
  path: '/v1/hosts/invitations',
  scope: Scope.Create,
  tokenScopes: noScopeSuffices,
  withinServices: false,
  place: 'host invitation arguments',
  body: invitationBody,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: invitation,
  summary: 'Invite machines to become hosts',
  description:
    'For administrators. Each object of the body invites one machine: `roost join <address> <token>` on it makes it a host. ' +
    'An invitation is good for one machine and for an hour. Only this answer has the token.',
})

const invitationsForAdministrators =
  'For administrators. To any other account it looks as if there were no invitations. One is named by the id that its host will have.'

export const getHostInvitations = defineOperation({
  id: 'getHostInvitations',
  method: 'GET',
  path: '/v1/hosts/invitations',
  localPath: '/v1/hosts/invitations/{object}',
  scope: Scope.ObjectsOrAll,
  identifiedBy: ['name'],
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'host invitation status arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: openInvitation,
  summary: 'Status of invitations of machines',
  description:
    'The invitations that a machine can still join with, oldest first. Those that were used or have expired are not among them. ' +
    `No answer has their tokens. ${invitationsForAdministrators}`,
})

export const deleteHostInvitations = defineOperation({
  id: 'deleteHostInvitations',
  method: 'DELETE',
  path: '/v1/hosts/invitations',
  localPath: '/v1/hosts/invitations/{object}',
  scope: Scope.Objects,
  identifiedBy: ['name'],
  tokenScopes: noScopeSuffices,
  withinServices: false,
  place: 'host invitation removal arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: removedHost,
  summary: 'Take invitations of machines back',
  description:
    'No machine can join with them any more. An invitation that a machine has used is not found; its host stays. ' +
    invitationsForAdministrators,
})

export const deleteHosts = defineOperation({
  id: 'deleteHosts',
  method: 'DELETE',
  path: '/v1/hosts',
  localPath: '/v1/hosts/{object}',
  scope: Scope.Objects,
  identifiedBy: ['name'],
  tokenScopes: noScopeSuffices,
  withinServices: false,
  place: 'host removal arguments',
  body: removalBody,
  query: noParameters,
  dataKey: DataKey.Hosts,
  entry: goneHost,
  summary: 'Remove hosts',
  description:
    'A host that joined is locked out within a second: nothing in the installation accepts its certificate any more. A host ' +
    'that has instances or volumes is only removed if `lost` is true: then its machine must never come back, and if it still ' +
    `runs, it has to be switched off. ${forAdministrators}`,
})
