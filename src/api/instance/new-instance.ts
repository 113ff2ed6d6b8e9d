import { problem } from '../../contract/errors.ts'
import type { Problem } from '../../contract/errors.ts'
import { createInstances } from '../../contract/instance/operations.ts'
import type { OperationBody } from '../../contract/operation.ts'
import type { NewInstances, ServiceChoice } from '../../db/instance/new-instances.ts'
import { expandImageLine, splitArgumentLine } from '../../domain/instance/argument-line.ts'
import { readImageLabels } from '../../domain/image/labels.ts'
import { resolveInstanceDefaults } from '../../domain/instance/defaults.ts'
import { InstanceFeature } from '../../domain/instance/feature.ts'
import { parseObjectName } from '../../domain/object-name.ts'
import { findProcessExcess } from '../../domain/instance/process-size.ts'
import { ScaleToZeroPolicy, noScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import type { ScaleToZero } from '../../domain/standby/scale-to-zero.ts'
import type { ResolvedImage } from '../../registry/image-resolver.ts'
import { volumeChoice } from '../volume/choice.ts'

export type InstanceBody = OperationBody<typeof createInstances>
type FoundImage = Extract<ResolvedImage, { readonly kind: 'found' }>

/**
 * Reports arguments or variables that are too long for a process. What the image adds is counted when the
 * instance starts, by the same bounds.
 */
export function oversizedProcess(body: InstanceBody): Problem | undefined {
  const { args = [], env = {} } = body
  const excess = findProcessExcess(typeof args === 'string' ? splitArgumentLine(args) : args, env)
  return excess === undefined
    ? undefined
    : problem('tooManyBytes', { ...excess, place: createInstances.place })
}

/** The instances to write into the database, with defaults for everything that was left out. */
export function newInstances(
  userUuid: string,
  {
    body,
    image,
    service,
  }: {
    readonly body: InstanceBody
    readonly image: FoundImage
    readonly service: ServiceChoice | undefined
  },
): NewInstances {
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
  const args = wantedArguments(body.args, image.facts)
  const volume = volumeChoice(body)
  return {
    userUuid,
    image: image.reference,
    ...wishes,
    deleteOnStop: body.features?.includes(InstanceFeature.DeleteOnStop) ?? false,
    tags: body.tags ?? [],
    scaleToZero: wantedScaleToZero(body),
    ...(service === undefined ? {} : { service }),
    ...(volume === undefined ? {} : { volume }),
    ...(name === undefined ? {} : { name }),
    ...(args === undefined ? {} : { args }),
  }
}

/**
 * Returns the arguments to run with, or undefined for the image's own. Clients send the `args` that the
 * image list shows as one line: it is the first element of an array, even if it is empty. If this line is
 * the only element, it means the image's own arguments; if others follow, its words replace it. If the
 * image has an entrypoint, the host does this replacement. The host runs the entrypoint before the
 * arguments, or passes it as one of them to a kernel that the image brings. Only the host knows which kind
 * of image it is.
 */
export function wantedArguments(
  args: InstanceBody['args'],
  image: Pick<FoundImage['facts'], 'args' | 'hasEntrypoint'>,
): readonly string[] | undefined {
  if (args === undefined || args.length === 0) return undefined
  const only = typeof args === 'string' ? args : args.length === 1 ? args[0] : undefined
  if (only === '' || (only !== undefined && only === image.args)) return undefined
  if (typeof args === 'string') return splitArgumentLine(args)
  const { args: line = '', hasEntrypoint } = image
  return hasEntrypoint ? args : expandImageLine(args, { line, words: splitArgumentLine(line) })
}

/**
 * Reads when an instance may sleep. The deprecated feature means the policy `on`. Clients send the policy
 * `off` with every instance that publishes no port, whatever their user asked for. So the feature counts
 * even if that policy is given.
 */
export function wantedScaleToZero({ scale_to_zero: wanted, features = [] }: ScaleToZeroBody): ScaleToZero {
  const policy = wanted?.policy ?? ScaleToZeroPolicy.Off
  const isFeature = features.includes(InstanceFeature.ScaleToZero)
  return {
    policy: policy === ScaleToZeroPolicy.Off && isFeature ? ScaleToZeroPolicy.On : policy,
    cooldownMs: wanted?.cooldown_time_ms ?? noScaleToZero.cooldownMs,
    stateful: wanted?.stateful ?? noScaleToZero.stateful,
  }
}

type ScaleToZeroBody = Pick<InstanceBody, 'scale_to_zero' | 'features'>
