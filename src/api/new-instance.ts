import { problem } from '../contract/errors.ts'
import type { Problem } from '../contract/errors.ts'
import { createInstances } from '../contract/instance-operations.ts'
import type { OperationBody } from '../contract/operation.ts'
import type { NewInstances } from '../db/create-instances.ts'
import { splitArgumentLine } from '../domain/argument-line.ts'
import { readImageLabels } from '../domain/image-labels.ts'
import { resolveInstanceDefaults } from '../domain/instance-defaults.ts'
import { InstanceFeature } from '../domain/instance-feature.ts'
import { parseObjectName } from '../domain/object-name.ts'
import { findProcessExcess } from '../domain/process-size.ts'
import type { ResolvedImage } from '../registry/image-resolver.ts'

export type InstanceBody = OperationBody<typeof createInstances>
type FoundImage = Extract<ResolvedImage, { readonly kind: 'found' }>

/** The first parameter that belongs to a part of the platform which this release does not have. */
export function unsupportedParameter(body: InstanceBody): Problem | undefined {
  const name =
    (body.service_group !== undefined && 'service_group') ||
    (body.volumes !== undefined && body.volumes.length > 0 && 'volumes') ||
    // Clients send the policy `off` along with every instance that publishes no port.
    (body.scale_to_zero !== undefined && body.scale_to_zero.policy !== 'off' && 'scale_to_zero') ||
    (body.features?.includes(InstanceFeature.ScaleToZero) && 'scale-to-zero')
  return name ? problem('notSupported', { name }) : undefined
}

/** What is too long for a process. What its image adds is counted at its start, by the same bounds. */
export function oversizedProcess(body: InstanceBody): Problem | undefined {
  const { args = [], env = {} } = body
  const excess = findProcessExcess(typeof args === 'string' ? splitArgumentLine(args) : args, env)
  return excess === undefined
    ? undefined
    : problem('tooManyBytes', { ...excess, place: createInstances.place })
}

/** What is to be written into the database, with everything that was left out filled in. */
export function newInstances(userUuid: string, body: InstanceBody, image: FoundImage): NewInstances {
  const { defaults } = readImageLabels(image.facts.labels)
  const wishes = resolveInstanceDefaults(
    {
      ...(body.memory_mb === undefined ? {} : { memoryMb: body.memory_mb }),
      ...(body.vcpus === undefined ? {} : { vcpus: body.vcpus }),
      ...(body.restart_policy === undefined ? {} : { restartPolicy: body.restart_policy }),
      ...(body.autostart === undefined ? {} : { autostart: body.autostart }),
      ...(body.replicas === undefined ? {} : { replicas: body.replicas }),
      ...(body.env === undefined ? {} : { env: body.env }),
    },
    defaults,
  )
  const name = body.name === undefined ? undefined : parseObjectName(body.name)
  const args = wantedArguments(body.args, image.facts.args)
  return {
    userUuid,
    image: image.reference,
    ...wishes,
    deleteOnStop: body.features?.includes(InstanceFeature.DeleteOnStop) ?? false,
    ...(name === undefined ? {} : { name }),
    ...(args === undefined ? {} : { args }),
  }
}

/**
 * The arguments to run with; undefined for the image's own. Clients pass on the `args` that they read from the image
 * list, one line, as the only element of an array, also where it is empty: that means the image's own, too.
 */
export function wantedArguments(
  args: InstanceBody['args'],
  imageArgs: string | undefined,
): readonly string[] | undefined {
  if (args === undefined) return undefined
  const only = typeof args === 'string' ? args : args.length === 1 ? args[0] : undefined
  if (args.length === 0 || only === '' || (only !== undefined && only === imageArgs)) return undefined
  return typeof args === 'string' ? splitArgumentLine(args) : args
}
