import { Type } from 'typebox'
import { defaultMemoryMb, defaultRestartDrainMs } from '../../domain/instance/defaults.ts'
import { InstanceFeature } from '../../domain/instance/feature.ts'
import { maxSuspendDrainMs } from '../../domain/instance/lifecycle-suspend.ts'
import { imageReferencePattern } from '../../domain/image/reference.ts'
import { instanceStates } from '../../domain/instance/state.ts'
import { RestartPolicy } from '../../domain/instance/restart-policy.ts'
import { changeId, closed, identifierFields, nameField, vocabulary, withinLimits } from '../fields.ts'
import {
  defaultLogBytes,
  defaultLogOffset,
  maxArgumentLength,
  maxArguments,
  maxDrainMs,
  maxEnvNameLength,
  maxEnvValueLength,
  maxEnvVariables,
  maxImageReferenceLength,
  maxLogBytes,
  maxObjectsPerRequest,
  maxReplicas,
  maxTagLength,
  maxTags,
  maxVolumesPerInstance,
  maxWaitMs,
} from '../limits.ts'
import { exactlyOne } from '../openapi/published-rules.ts'
import { scaleToZeroChange, scaleToZeroRequest, serviceGroupRequest } from '../service/fields.ts'
import { instanceVolume } from '../volume/requests.ts'

// The parameters of one object in a request, beside its identifier. Defaults are in
// `src/domain/instance/defaults.ts`.

const argument = Type.String({ maxLength: maxArgumentLength })

/**
 * The smallest wait. There is no largest one, because clients send any large number to wait long: such a
 * wait is cut to the longest and is no error.
 */
const waitBounds = { minimum: -1 }
const longestWait = `as long as possible (${maxWaitMs} ms), and so does everything larger`

const waitTimeout = Type.Integer({
  ...waitBounds,
  description: `How long to wait for it to run; 0 does not wait, -1 waits ${longestWait}.`,
})

/**
 * Newer clients give the wait in whole seconds. `src/contract/request/timeout-seconds.ts` turns it into
 * milliseconds.
 */
const timeoutSeconds = {
  timeout_s: Type.Optional(
    Type.Integer({
      ...waitBounds,
      description: 'The same wait in seconds, as newer clients give it; taken where both are given.',
    }),
  ),
}

/**
 * The rule that only an instance with `autostart` can be waited for. `src/api/instance/create.ts` checks
 * it.
 */
const waitsOnlyForStart = {
  anyOf: [
    { required: ['autostart'], properties: { autostart: { const: true } } },
    { properties: { wait_timeout_ms: { enum: [0, null] }, timeout_s: { enum: [0, null] } } },
  ],
}

const memory = withinLimits(
  `Memory in MiB; default ${defaultMemoryMb}.`,
  'limits.min_memory_mb` to `limits.max_memory_mb',
)
const processors = withinLimits('Virtual CPUs; default 1.', 'limits.min_vcpus` to `limits.max_vcpus')

const argumentsField = Type.Union([argument, Type.Array(argument, { maxItems: maxArguments })], {
  description: 'Arguments of the application: a list, or one line that is split at blanks outside quotes.',
})

const variableName = Type.String({ pattern: `^[^=\\u0000]{1,${maxEnvNameLength}}$` })
const variables = Type.Record(variableName, Type.String({ maxLength: maxEnvValueLength }), {
  maxProperties: maxEnvVariables,
  additionalProperties: false,
  description: 'Environment variables.',
  'x-place': 'environment variables',
})

const features = Type.Array(vocabulary(Object.values(InstanceFeature), 'Feature.'), {
  maxItems: 8,
  description: 'Features.',
})

const restartPolicy = vocabulary(
  Object.values(RestartPolicy),
  'When to restart after a stop from within; default never.',
)

const tag = Type.String({ minLength: 1, maxLength: maxTagLength })
const tags = Type.Array(tag, {
  maxItems: maxTags,
  uniqueItems: true,
  description: 'Words by which you find the instance.',
})

const imageReference = Type.String({
  minLength: 1,
  maxLength: maxImageReferenceLength,
  'x-published': { pattern: imageReferencePattern },
  description: 'Image reference; a tag is pinned to the digest that it has now.',
})

const instanceProperties = {
  name: Type.Optional(nameField),
  image: imageReference,
  args: Type.Optional(argumentsField),
  env: Type.Optional(variables),
  memory_mb: Type.Optional(memory),
  vcpus: Type.Optional(processors),
  service_group: Type.Optional(serviceGroupRequest),
  volumes: Type.Optional(
    Type.Array(instanceVolume, {
      maxItems: maxVolumesPerInstance,
      description: 'The volume that is mounted at every start.',
    }),
  ),
  autostart: Type.Optional(Type.Boolean({ description: 'Start right after creation; default false.' })),
  replicas: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxReplicas,
      description: 'Additional instances with these properties; default 0.',
    }),
  ),
  wait_timeout_ms: Type.Optional(waitTimeout),
  ...timeoutSeconds,
  features: Type.Optional(features),
  restart_policy: Type.Optional(restartPolicy),
  tags: Type.Optional(tags),
  scale_to_zero: Type.Optional(scaleToZeroRequest),
}

export const createInstanceBody = closed(instanceProperties, { 'x-published': waitsOnlyForStart })

/** The properties that get their default again if a change names them in `clear`. */
export const clearable = ['args', 'env', 'restart_policy', 'features', 'scale_to_zero', 'tags'] as const

const names = Type.Array(variableName, { maxItems: maxEnvVariables })

export const updateInstanceBody = closed({
  id: changeId,
  image: Type.Optional(imageReference),
  args: Type.Optional(argumentsField),
  env: Type.Optional(variables),
  memory_mb: Type.Optional(memory),
  vcpus: Type.Optional(processors),
  restart_policy: Type.Optional(restartPolicy),
  features: Type.Optional(features),
  scale_to_zero: Type.Optional(scaleToZeroChange),
  tags: Type.Optional(tags),
  add: Type.Optional(
    closed(
      { env: Type.Optional(variables), tags: Type.Optional(tags) },
      { description: 'Variables and tags to be added.', 'x-place': 'what is to be added' },
    ),
  ),
  del: Type.Optional(
    closed(
      {
        env: Type.Optional(Type.Union([variableName, names], { description: 'Names of variables.' })),
        tags: Type.Optional(tags),
      },
      { description: 'Variables and tags to be removed.', 'x-place': 'what is to be removed' },
    ),
  ),
  clear: Type.Optional(
    Type.Array(vocabulary(clearable, 'A property that gets its default again.'), {
      maxItems: clearable.length,
      description: 'Properties that get their defaults again.',
    }),
  ),
  restart: Type.Optional(
    Type.Boolean({
      description:
        'Restart what runs, and drop the memory of what sleeps, if it lacks a change; default false.',
    }),
  ),
  drain_timeout_ms: Type.Optional(
    Type.Integer({
      minimum: -1,
      maximum: maxDrainMs,
      description: `How long connections may drain before a restart; default ${defaultRestartDrainMs}, -1 is as long as possible (${maxDrainMs} ms).`,
    }),
  ),
})

const stateField = vocabulary(instanceStates, 'State of an instance.')

export const stateFilterBody = closed({
  state: Type.Optional(stateField),
})

export const startInstanceBody = closed({
  wait_timeout_ms: Type.Optional(waitTimeout),
  ...timeoutSeconds,
})

/**
 * The parameters of a delete. Instances are already deleted when the answer comes, so `timeout_s` has no
 * effect.
 */
export const deleteInstanceBody = closed(timeoutSeconds)

const stopProperties = {
  force: Type.Optional(
    Type.Boolean({ description: 'Stop at once, without a clean shutdown; default false.' }),
  ),
  drain_timeout_ms: Type.Optional(
    Type.Integer({
      minimum: -1,
      maximum: maxDrainMs,
      description: `How long connections may drain; default 0, -1 is as long as possible (${maxDrainMs} ms).`,
    }),
  ),
}

export const stopInstanceBody = closed(stopProperties, {
  'x-published': {
    anyOf: [
      { properties: { force: { enum: [false, null] } } },
      { properties: { drain_timeout_ms: { enum: [0, null] } } },
    ],
  },
})

export const suspendInstanceBody = closed({
  drain_timeout_ms: Type.Optional(
    Type.Integer({
      minimum: -1,
      maximum: maxSuspendDrainMs,
      description:
        `How long requests in flight may take to end before the instance sleeps; default ${maxSuspendDrainMs}, ` +
        'which is also what -1 means. New requests wait for as long.',
    }),
  ),
})

/** The longest name of a host. A host that joins has one label of DNS; the first one may have more. */
const maxHostIdLength = 253

export const moveInstanceBody = closed({
  host: Type.String({
    minLength: 1,
    maxLength: maxHostIdLength,
    description: 'The host where the instances are to be.',
  }),
  wait_timeout_ms: Type.Optional(
    Type.Integer({
      ...waitBounds,
      description: `How long to wait until the move is over; 0, the default, does not wait, -1 waits ${longestWait}.`,
    }),
  ),
})

const awaited = {
  state: Type.Optional(vocabulary(instanceStates, 'The state to wait for; default running.')),
}
const timeout = {
  timeout_ms: Type.Optional(
    Type.Integer({
      ...waitBounds,
      description: `How long to wait; default -1, which waits ${longestWait}.`,
    }),
  ),
  ...timeoutSeconds,
}

export const waitInstanceBody = closed({ ...awaited, ...timeout })

/** The body that names several objects and has one timeout for all of them. */
export const waitInstanceIdsBody = closed({
  ids: Type.Array(
    closed(
      { ...identifierFields, ...awaited },
      { 'x-place': 'instance wait identifier', 'x-published': exactlyOne(['uuid', 'name']) },
    ),
    { minItems: 1, maxItems: maxObjectsPerRequest },
  ),
  ...timeout,
})

export const logInstanceBody = closed({
  offset: Type.Optional(
    Type.Integer({
      minimum: -Number.MAX_SAFE_INTEGER,
      maximum: Number.MAX_SAFE_INTEGER,
      description: `Byte offset, from the end of the log where negative; default ${defaultLogOffset}.`,
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: `Most bytes to return; default ${defaultLogBytes}, never more than ${maxLogBytes}.`,
    }),
  ),
})

export const logQuery = closed({
  follow: Type.Optional(
    Type.Boolean({
      description: 'Go on with what the one instance prints, as server-sent events; default false.',
    }),
  ),
})

export const statusQuery = closed({
  details: Type.Optional(Type.Boolean({ description: 'Give all fields; default true.' })),
  metrics: Type.Optional(
    Type.Boolean({ description: 'Give resource use among the details; default false.' }),
  ),
  tags: Type.Optional(
    Type.Array(tag, {
      minItems: 1,
      maxItems: maxTags,
      description: 'Only instances with all of these tags, of all instances; comma-separated or repeated.',
    }),
  ),
})
