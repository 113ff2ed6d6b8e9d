import { TokenScope, noScopeSuffices } from '../../domain/account/token-scope.ts'
import { noParameters } from '../fields.ts'
import { explainedInstance } from './explanation.ts'
import {
  createInstanceBody,
  deleteInstanceBody,
  logInstanceBody,
  logQuery,
  moveInstanceBody,
  startInstanceBody,
  stateFilterBody,
  statusQuery,
  stopInstanceBody,
  suspendInstanceBody,
  updateInstanceBody,
  waitInstanceBody,
  waitInstanceIdsBody,
} from './requests.ts'
import {
  awaitedInstance,
  changedInstance,
  createdInstance,
  deletedInstance,
  instanceDetails,
  instanceIdentity,
  instanceLog,
  instanceMetrics,
  instanceUsage,
  movedInstance,
  updatedInstance,
} from './responses.ts'
import { DataKey, Scope, TextForm, defineOperation } from '../operation.ts'
import { usageBody } from '../usage.ts'

export const createInstances = defineOperation({
  id: 'createInstances',
  method: 'POST',
  path: '/v1/instances',
  scope: Scope.Create,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance creation arguments',
  body: createInstanceBody,
  query: noParameters,
  waits: true,
  dataKey: DataKey.Instances,
  entry: createdInstance,
  summary: 'Create instances',
  description:
    'Creates one instance with its replicas per object of the body. With `autostart` the instances are started, and ' +
    'with `wait_timeout_ms` the answer waits until they run.',
})

export const getInstances = defineOperation({
  id: 'getInstances',
  method: 'GET',
  path: '/v1/instances',
  localPath: '/v1/instances/{object}',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'instance status arguments',
  body: noParameters,
  query: statusQuery,
  paged: true,
  ordered: true,
  dataKey: DataKey.Instances,
  entry: instanceDetails,
  summary: 'Status and configuration of instances',
  description: 'Without identifiers all instances are returned, and their entries have no `status`.',
})

export const deleteInstances = defineOperation({
  id: 'deleteInstances',
  method: 'DELETE',
  path: '/v1/instances',
  localPath: '/v1/instances/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance deletion arguments',
  body: deleteInstanceBody,
  query: noParameters,
  dataKey: DataKey.Instances,
  entry: deletedInstance,
  summary: 'Delete instances',
  description:
    'A running instance is stopped by force. The identifiers are invalid and the name is free at once.',
})

export const updateInstances = defineOperation({
  id: 'updateInstances',
  method: 'PATCH',
  path: '/v1/instances',
  localPath: '/v1/instances/{object}',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance change arguments',
  body: updateInstanceBody,
  changes: true,
  query: noParameters,
  dataKey: DataKey.Instances,
  entry: updatedInstance,
  summary: 'Change instances',
  description:
    'What is left out stays as it is. Restart policy, features, scale-to-zero and tags change at once. Image, arguments, ' +
    'environment, memory and processors change at once where the instance is stopped or sleeps without memory; else ' +
    '`needs_restart` names those that wait for the next start, and `restart` brings them about now: what runs is restarted, ' +
    'and the kept memory of what sleeps is dropped. All changes of one instance in a request take effect together.',
})

export const listInstances = defineOperation({
  id: 'listInstances',
  method: 'GET',
  path: '/v1/instances/list',
  scope: Scope.Collection,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'instance list filter',
  body: stateFilterBody,
  inQuery: true,
  query: noParameters,
  paged: true,
  dataKey: DataKey.Instances,
  entry: instanceIdentity,
  summary: 'List instances',
  description: 'An array of filters selects instances in any of the states.',
})

export const startInstances = defineOperation({
  id: 'startInstances',
  method: 'PUT',
  path: '/v1/instances/start',
  localPath: '/v1/instances/{object}/start',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance start arguments',
  body: startInstanceBody,
  query: noParameters,
  waits: true,
  dataKey: DataKey.Instances,
  entry: changedInstance,
  summary: 'Start instances',
  description: 'Ends a restart sequence. Nothing happens to an instance that runs already.',
})

export const stopInstances = defineOperation({
  id: 'stopInstances',
  method: 'PUT',
  path: '/v1/instances/stop',
  localPath: '/v1/instances/{object}/stop',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance stop arguments',
  body: stopInstanceBody,
  query: noParameters,
  dataKey: DataKey.Instances,
  entry: changedInstance,
  summary: 'Stop instances',
  description: 'Does not block: wait for the state `stopped`. Ends a restart sequence.',
})

export const suspendInstances = defineOperation({
  id: 'suspendInstances',
  method: 'PUT',
  path: '/v1/instances/suspend',
  localPath: '/v1/instances/{object}/suspend',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance suspend arguments',
  body: suspendInstanceBody,
  query: noParameters,
  dataKey: DataKey.Instances,
  entry: changedInstance,
  summary: 'Suspend instances',
  description:
    'Sends instances to standby now, with their memory, whatever their scale-to-zero policy says. Does not block: wait ' +
    'for the state `standby`. Requests in flight may end first; others wait, and wake the instance. A start and traffic wake ' +
    'it. Nothing happens to an instance that sleeps already; one that starts is suspended once it runs.',
})

export const moveInstances = defineOperation({
  id: 'moveInstances',
  method: 'PUT',
  path: '/v1/instances/move',
  localPath: '/v1/instances/{object}/move',
  scope: Scope.Objects,
  tokenScopes: noScopeSuffices,
  withinServices: false,
  place: 'instance move arguments',
  body: moveInstanceBody,
  query: noParameters,
  dataKey: DataKey.Instances,
  entry: movedInstance,
  summary: 'Move instances to another host',
  description:
    'For administrators, who name instances of other accounts by UUID. To any other account it looks as if there were no ' +
    'hosts. An instance that runs sleeps meanwhile, and runs on with its memory; its addresses stay. Nothing happens to one ' +
    'that is there already, or on its way there. A volume moves with it.',
})

export const waitInstances = defineOperation({
  id: 'waitInstances',
  method: 'GET',
  path: '/v1/instances/wait',
  localPath: '/v1/instances/{object}/wait',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'instance wait arguments',
  body: waitInstanceBody,
  inQuery: true,
  query: noParameters,
  idsForm: waitInstanceIdsBody,
  waits: true,
  dataKey: DataKey.Instances,
  entry: awaitedInstance,
  summary: 'Wait for a state',
  description:
    'Blocks until every named instance is in its state, or until the timeout. Three forms: `uuid` or `name` with ' +
    '`timeout_ms`; `ids` with a `state` each and one `timeout_ms`; an array whose items carry `state` and `timeout_ms`.',
})

export const getInstanceLogs = defineOperation({
  id: 'getInstanceLogs',
  method: 'GET',
  path: '/v1/instances/log',
  localPath: '/v1/instances/{object}/log',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'instance log arguments',
  body: logInstanceBody,
  inQuery: true,
  query: logQuery,
  follows: 'log',
  dataKey: DataKey.Instances,
  entry: instanceLog,
  summary: 'Console log',
  description:
    'Returns the intersection of the wanted window with what is kept. Offsets count from the first byte that the ' +
    'instance ever printed and stay true when old output is dropped. Ends are exclusive. With `follow` the answer is a ' +
    'stream that goes on with what the instance prints: events of the type `log` with one entry as data, and the end of ' +
    'its `range` as id. `Last-Event-ID` counts before `offset`. An event of the type `gap` says that bytes were dropped ' +
    'before they were sent, and one of the type `end` that the instance is deleted.',
})

export const execInstances = defineOperation({
  id: 'execInstances',
  method: 'GET',
  path: '/v1/instances/exec',
  localPath: '/v1/instances/{object}/exec',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance exec arguments',
  body: noParameters,
  query: noParameters,
  upgrades: true,
  dataKey: DataKey.Instances,
  entry: instanceIdentity,
  summary: 'Run a program in an instance',
  description:
    'Upgrades to a WebSocket for one program, beside the application and with its user, directory and environment. The ' +
    "client's first message is JSON: `type` `run`, `argv`, and with `terminal` (`rows`, `columns`) a terminal. Binary " +
    'messages carry bytes after one byte for the stream: 0 input, 1 output, 2 error output. Further messages of the client ' +
    'are of the types `resize`, `signal` and `end_of_input`, those of the host `started`, `exit` and `failed`. A sleeping ' +
    'instance is woken, and stays awake until the program ends. The program ends with its connection.',
})

export const archiveInstances = defineOperation({
  id: 'archiveInstances',
  method: 'GET',
  path: '/v1/instances/archive',
  localPath: '/v1/instances/{object}/archive',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance archive arguments',
  body: noParameters,
  query: noParameters,
  upgrades: true,
  dataKey: DataKey.Instances,
  entry: instanceIdentity,
  summary: 'Copy files from or to an instance',
  description:
    'Upgrades to a WebSocket for one copy, with the rights of the application. The first message is JSON: `type` `pack` ' +
    'and `path` to get a tar archive of a file or directory, or `unpack` and `path` to send one. With `follow` a symbolic ' +
    'link is followed; with `extract` all entries go below the path; with `owners` the numbers of the owners are kept. ' +
    'Streams and further messages are those of `exec`. An exit code that is not 0 says that something was not copied, and ' +
    'the error output says what.',
})

export const connectInstances = defineOperation({
  id: 'connectInstances',
  method: 'GET',
  path: '/v1/instances/connect',
  localPath: '/v1/instances/{object}/connect',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Operate],
  withinServices: true,
  place: 'instance connection arguments',
  body: noParameters,
  query: noParameters,
  upgrades: true,
  dataKey: DataKey.Instances,
  entry: instanceIdentity,
  summary: 'Connect to a port in an instance',
  description:
    'Upgrades to a WebSocket for one TCP connection to a port at which the application listens, be it at the loopback ' +
    'address or at its own. The first message is JSON: `type` `connect` and `port`. Binary messages carry bytes after ' +
    'one byte for the stream: 0 to the application, 1 from it. `end_of_input` and `output_ended` end one direction. A ' +
    'sleeping instance is woken, and stays awake until the connection ends.',
})

export const getInstanceMetrics = defineOperation({
  id: 'getInstanceMetrics',
  method: 'GET',
  path: '/v1/instances/metrics',
  localPath: '/v1/instances/{object}/metrics',
  scope: Scope.ObjectsOrAll,
  tokenScopes: [TokenScope.Metrics],
  withinServices: true,
  place: 'instance metrics arguments',
  body: noParameters,
  query: noParameters,
  paged: true,
  dataKey: DataKey.Instances,
  entry: instanceMetrics,
  textForm: TextForm.Prometheus,
  summary: 'Metrics of instances',
  description:
    'JSON with the request header `Accept: application/json`, otherwise the Prometheus text format.',
})

export const getInstanceUsage = defineOperation({
  id: 'getInstanceUsage',
  method: 'GET',
  path: '/v1/instances/usage',
  localPath: '/v1/instances/{object}/usage',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Metrics],
  withinServices: true,
  place: 'instance usage arguments',
  body: usageBody,
  inQuery: true,
  query: noParameters,
  dataKey: DataKey.Instances,
  entry: instanceUsage,
  summary: 'History of usage',
  description:
    'What instances used in each step of the last hour or of the last 30 days. It is kept on the host of the instance ' +
    'and ends with the instance.',
})

export const explainInstances = defineOperation({
  id: 'explainInstances',
  method: 'GET',
  path: '/v1/instances/explain',
  localPath: '/v1/instances/{object}/explain',
  scope: Scope.Objects,
  tokenScopes: [TokenScope.Read],
  withinServices: true,
  place: 'instance explanation arguments',
  body: noParameters,
  query: noParameters,
  dataKey: DataKey.Instances,
  entry: explainedInstance,
  textForm: TextForm.Explanation,
  summary: 'Explain instances',
  description:
    'Why an instance is awake, asleep or stopped, and what comes next. Its host is asked for what it knows, for at most ' +
    'a second.',
})
