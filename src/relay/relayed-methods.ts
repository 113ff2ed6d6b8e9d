import proto from '@temporalio/proto'
import { nodeTaskQueue } from '../domain/instance/host-work.ts'
import { FlatMessage } from './flat-message.ts'
import type { FlatValues } from './flat-message.ts'
import { denied, GrpcStatus, invalid } from './grpc-status.ts'
import type { TaskOwner, TaskTokens } from './task-token.ts'

const { temporal } = proto
const service = temporal.api.workflowservice.v1
const { TASK_QUEUE_KIND_NORMAL: normalQueue, TASK_QUEUE_KIND_UNSPECIFIED: unspecifiedQueue } =
  temporal.api.enums.v1.TaskQueueKind
/** The kinds of the queue that a host may poll: Temporal takes a queue without a kind for a normal one. */
const ownQueueKinds = [normalQueue, unspecifiedQueue]
const activityQueue = temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY

/** Tokens of Temporal have some 200 bytes. */
const maxTokenBytes = 4_096
/** A task queue's name has at most 1,000 bytes in Temporal. */
const maxTaskQueueBytes = 2_048
/** The key that a worker draws for itself is a UUID. */
const maxInstanceKeyLength = 64

/** Whose call it is, and what the relay needs to judge it. */
export interface CallScope {
  readonly host: TaskOwner
  readonly namespace: string
  readonly tokens: TaskTokens
}

/**
 * One method that passes. Nothing of a host's message is passed on as it is: `request` writes the message for
 * Temporal anew from the fields that it knows, or returns why the call is refused. `answer` does the same
 * with Temporal's message; without it, that message passes as it is. Both throw an error if a message can not
 * be read.
 */
export interface RelayedMethod {
  readonly request: (message: Uint8Array, scope: CallScope) => Uint8Array | GrpcStatus
  readonly answer?: (message: Uint8Array, scope: CallScope) => Uint8Array
  /** True for a call that waits for work for a minute. */
  readonly waits: boolean
}

/** The methods that pass: those that the SDK's worker calls if it has activities only. */
const relayedMethods = {
  /** The SDK's first call: the version of the server and what it can do. Its request is empty. */
  GetSystemInfo: { request: () => new Uint8Array(), waits: false },
  /**
   * The SDK asks it before a worker starts. It answers only for the platform's namespace, and only with what
   * a worker needs. The features that the answer leaves out are those for which the worker would call
   * further methods: reports of the worker's load, and a queue for commands to it.
   */
  DescribeNamespace: { request: namespaceRequest, answer: namespaceAnswer, waits: false },
  /** The only source of task tokens. It takes work from the host's own queue alone. */
  PollActivityTaskQueue: { request: pollRequest, answer: pollAnswer, waits: true },
  RespondActivityTaskCompleted: tokenMethod('RespondActivityTaskCompletedRequest', ['result']),
  RespondActivityTaskFailed: tokenMethod('RespondActivityTaskFailedRequest', [
    'failure',
    'lastHeartbeatDetails',
  ]),
  RespondActivityTaskCanceled: tokenMethod('RespondActivityTaskCanceledRequest', ['details']),
  /** Its answer says whether the activity is to be cancelled. */
  RecordActivityTaskHeartbeat: tokenMethod('RecordActivityTaskHeartbeatRequest', ['details']),
  /**
   * A worker says that it stops, and servers that can end its polls do so. The queue of workflows that it may
   * name is left out, because Temporal unloads that queue, whosever it is.
   */
  ShutdownWorker: { request: shutdownRequest, waits: false },
} as const satisfies Readonly<Record<string, RelayedMethod>>

/** What a refusal adds for the methods that somebody may expect to pass. */
const refusalReasons: Readonly<Record<string, string>> = {
  PollWorkflowTaskQueue: 'Workflows run at the control plane.',
  PollNexusTaskQueue: 'A host has no queue of Nexus tasks, and commands to workers are switched off.',
  RecordWorkerHeartbeat: 'The load of workers is not recorded.',
  RespondActivityTaskCompletedById: 'A task is named by its token.',
  RespondActivityTaskFailedById: 'A task is named by its token.',
  RespondActivityTaskCanceledById: 'A task is named by its token.',
  RecordActivityTaskHeartbeatById: 'A task is named by its token.',
  SignalWorkflowExecution: "A host reports to the platform's API.",
}

const path = /^\/temporal\.api\.workflowservice\.v1\.WorkflowService\/(?<name>\w{1,100})$/

/** Returns the method of a path of HTTP, or why no host may call it. */
export function relayedMethod(requestPath: string): RelayedMethod | GrpcStatus {
  const name = path.exec(requestPath)?.groups?.['name']
  if (name === undefined) return denied("Hosts may only call methods of Temporal's WorkflowService.")
  if (Object.hasOwn(relayedMethods, name)) return relayedMethods[name as keyof typeof relayedMethods]
  const reason = Object.hasOwn(refusalReasons, name) ? ` ${refusalReasons[name]}` : ''
  return denied(`Hosts may not call ${name}.${reason}`)
}

function namespaceRequest(message: Uint8Array, scope: CallScope): Uint8Array | GrpcStatus {
  const { namespace } = namespaceFields.decode(message)
  if (namespace !== scope.namespace) return otherNamespace(namespace)
  return service.DescribeNamespaceRequest.encode({ namespace }).finish()
}
const namespaceFields = new FlatMessage('DescribeNamespaceRequest', ['namespace'])

function namespaceAnswer(message: Uint8Array): Uint8Array {
  const info = service.DescribeNamespaceResponse.decode(message).namespaceInfo
  const features = info?.capabilities
  const capabilities = {
    workerPollCompleteOnShutdown: features?.workerPollCompleteOnShutdown ?? false,
    pollerAutoscaling: features?.pollerAutoscaling ?? false,
    pollerAutoscalingAutoEnroll: features?.pollerAutoscalingAutoEnroll ?? false,
  }
  const shown = { name: info?.name, state: info?.state, id: info?.id, capabilities, limits: info?.limits }
  return service.DescribeNamespaceResponse.encode({ namespaceInfo: shown }).finish()
}

/**
 * The fields that are left out are the limit of tasks per second, which Temporal would go on applying to the
 * queue, the versions of the worker, from which Temporal would make deployments, and the queue for commands.
 */
function pollRequest(message: Uint8Array, scope: CallScope): Uint8Array | GrpcStatus {
  const { namespace, taskQueue, workerInstanceKey } = pollFields.decode(message)
  if (namespace !== scope.namespace) return otherNamespace(namespace)
  if (!(taskQueue instanceof Uint8Array)) return invalid('The poll names no task queue.')
  if (taskQueue.length > maxTaskQueueBytes) {
    return invalid(`The task queue has ${taskQueue.length} bytes; it may have ${maxTaskQueueBytes}.`)
  }
  const queue = temporal.api.taskqueue.v1.TaskQueue.decode(taskQueue)
  const own = nodeTaskQueue(scope.host.hostId)
  if (queue.name !== own) return denied(`This host may poll ${own} only, not ${shownName(queue.name)}.`)
  if (!ownQueueKinds.includes(queue.kind) || queue.normalName !== '') {
    return denied(`This host may poll ${own} only as a normal queue.`)
  }
  const key = instanceKey(workerInstanceKey)
  if (key instanceof GrpcStatus) return key
  return service.PollActivityTaskQueueRequest.encode({
    namespace,
    taskQueue: { name: own, kind: normalQueue },
    identity: identityOf(scope),
    workerInstanceKey: key,
  }).finish()
}
const pollFields = new FlatMessage('PollActivityTaskQueueRequest', [
  'namespace',
  'taskQueue',
  'workerInstanceKey',
])

function pollAnswer(message: Uint8Array, scope: CallScope): Uint8Array {
  const values = taskFields.decode(message)
  const { taskToken } = values
  // A poll for which no work came is answered without a token.
  if (!(taskToken instanceof Uint8Array) || taskToken.length === 0) return taskFields.encode(values)
  return taskFields.encode({ ...values, taskToken: scope.tokens.wrap(scope.host, taskToken) })
}
const taskFields = new FlatMessage('PollActivityTaskQueueResponse')

function shutdownRequest(message: Uint8Array, scope: CallScope): Uint8Array | GrpcStatus {
  const { namespace, taskQueue = '', workerInstanceKey } = shutdownFields.decode(message)
  if (namespace !== scope.namespace) return otherNamespace(namespace)
  const own = nodeTaskQueue(scope.host.hostId)
  if (taskQueue !== own)
    return denied(`This host has workers of ${own} only, not of ${shownName(taskQueue)}.`)
  const key = instanceKey(workerInstanceKey)
  if (key instanceof GrpcStatus) return key
  return service.ShutdownWorkerRequest.encode({
    namespace,
    taskQueue: own,
    taskQueueTypes: [activityQueue],
    identity: identityOf(scope),
    workerInstanceKey: key,
    reason: 'the worker of the host stops',
  }).finish()
}
const shutdownFields = new FlatMessage('ShutdownWorkerRequest', [
  'namespace',
  'taskQueue',
  'workerInstanceKey',
])

/** A method for a task that was given to the host. `details` are the fields that tell how it went. */
function tokenMethod(typeName: string, details: readonly string[]): RelayedMethod {
  const known = new FlatMessage(typeName, ['taskToken', 'namespace', ...details])
  const written = new FlatMessage(typeName, ['taskToken', 'namespace', 'identity', ...details])
  return {
    waits: false,
    request(message, scope) {
      const { namespace, taskToken, ...told } = known.decode(message)
      if (namespace !== scope.namespace) return otherNamespace(namespace)
      const token = ownToken(taskToken, scope)
      if (token instanceof GrpcStatus) return token
      return written.encode({ ...told, namespace, taskToken: token, identity: identityOf(scope) })
    },
  }
}

function ownToken(wrapped: FlatValues[string], scope: CallScope): Uint8Array | GrpcStatus {
  if (!(wrapped instanceof Uint8Array)) return denied('The call names no task.')
  if (wrapped.length > maxTokenBytes) {
    return denied(`The task token has ${wrapped.length} bytes; it may have ${maxTokenBytes}.`)
  }
  return scope.tokens.unwrap(scope.host, wrapped) ?? denied('This task was not given to this host.')
}

function instanceKey(value: FlatValues[string] = ''): string | GrpcStatus {
  const key = String(value)
  if (key.length <= maxInstanceKeyLength) return key
  return invalid(`The worker's key has ${key.length} characters; it may have ${maxInstanceKeyLength}.`)
}

/** Histories and the Web UI show who did a task. The host's own word for itself would prove nothing. */
function identityOf({ host }: CallScope): string {
  return `host ${host.hostId}`
}

function otherNamespace(named: FlatValues[string]): GrpcStatus {
  return denied(`Hosts may not use the namespace ${shownName(named ?? '')}.`)
}

/** The longest part of a name of the host's that an answer repeats. */
const shownLength = 100

function shownName(name: NonNullable<FlatValues[string]>): string {
  const text = String(name)
  return JSON.stringify(text.length > shownLength ? `${text.slice(0, shownLength)}…` : text)
}
