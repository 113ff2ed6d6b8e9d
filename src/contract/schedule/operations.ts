import { TokenScope } from '../../domain/account/token-scope.ts'
import { detailsQuery, noParameters } from '../fields.ts'
import { keptRuns } from '../limits.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'
import { createScheduleBody, runsBody, scheduleFilterBody, updateScheduleBody } from './requests.ts'
import {
  changedSchedule,
  explainedSchedule,
  scheduleDetails,
  scheduleIdentity,
  scheduleRuns,
  updatedSchedule,
} from './responses.ts'

export const createSchedules = defineOperation({
  id: 'createSchedules',
  method: 'POST',
  path: '/v1/schedules',
  scope: Scope.Create,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'schedule creation arguments',
  body: createScheduleBody,
  query: noParameters,
  dataKey: DataKey.Schedules,
  entry: changedSchedule,
  summary: 'Create schedules',
  description:
    'Creates one schedule per object of the body. At its times it starts or stops instances, or runs an image to its ' +
    'end. The image of a run is pinned to the digest that its tag has now.',
})

export const getSchedules = defineOperation({
  id: 'getSchedules',
  method: 'GET',
  path: '/v1/schedules',
  localPath: '/v1/schedules/{object}',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'schedule status arguments',
  body: noParameters,
  query: detailsQuery,
  paged: true,
  dataKey: DataKey.Schedules,
  entry: scheduleDetails,
  summary: 'Status of schedules',
  description: 'Without identifiers all schedules are returned, and their entries have no `status`.',
})

export const updateSchedules = defineOperation({
  id: 'updateSchedules',
  method: 'PATCH',
  path: '/v1/schedules',
  localPath: '/v1/schedules/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'schedule change arguments',
  body: updateScheduleBody,
  query: noParameters,
  changes: true,
  dataKey: DataKey.Schedules,
  entry: updatedSchedule,
  summary: 'Change schedules',
  description:
    'Of one object, `clear` is done first. A new `action` replaces the whole action. A run that is under way goes on ' +
    'as it began.',
})

export const deleteSchedules = defineOperation({
  id: 'deleteSchedules',
  method: 'DELETE',
  path: '/v1/schedules',
  localPath: '/v1/schedules/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'schedule deletion arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Schedules,
  entry: changedSchedule,
  summary: 'Delete schedules',
  description: 'Its runs are deleted with it, and so is the instance of a run that is under way.',
})

export const listSchedules = defineOperation({
  id: 'listSchedules',
  method: 'GET',
  path: '/v1/schedules/list',
  scope: Scope.Collection,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'schedule list filter',
  body: scheduleFilterBody,
  inQuery: true,
  query: noParameters,
  paged: true,
  dataKey: DataKey.Schedules,
  entry: scheduleIdentity,
  summary: 'List schedules',
  description:
    'All filters of one object must match; an array of objects selects schedules that match any of them.',
})

export const triggerSchedules = defineOperation({
  id: 'triggerSchedules',
  method: 'PUT',
  path: '/v1/schedules/trigger',
  localPath: '/v1/schedules/{object}/trigger',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: false,
  place: 'schedule trigger arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Schedules,
  entry: changedSchedule,
  summary: 'Run schedules now',
  description:
    'Has a run begin now, also if the schedule is paused. The answer does not wait for it. Fails if an earlier run is ' +
    'under way and `overlap` is `skip`.',
})

export const getScheduleRuns = defineOperation({
  id: 'getScheduleRuns',
  method: 'GET',
  path: '/v1/schedules/runs',
  localPath: '/v1/schedules/{object}/runs',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'schedule run arguments',
  body: runsBody,
  inQuery: true,
  query: noParameters,
  dataKey: DataKey.Schedules,
  entry: scheduleRuns,
  summary: 'Runs of schedules',
  description: `The last runs of each schedule, the newest first. The last ${keptRuns} are kept.`,
})

export const explainSchedules = defineOperation({
  id: 'explainSchedules',
  method: 'GET',
  path: '/v1/schedules/explain',
  localPath: '/v1/schedules/{object}/explain',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: false,
  place: 'schedule explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Schedules,
  entry: explainedSchedule,
  textForm: TextForm.Explanation,
  summary: 'Explain schedules',
  description: 'What a schedule does and what its last run did, and when it runs next.',
})
