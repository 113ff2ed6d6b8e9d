import { RestartPolicy } from '../instance/restart-policy.ts'

/**
 * Values from the labels of an image, for what the creator of an instance left out. `docs/images.md` lists
 * the labels. A label with an invalid value never makes an image unusable: it is ignored, with a reason.
 */
export interface ImageLabelDefaults {
  readonly memoryMb?: number
  readonly vcpus?: number
  readonly restartPolicy?: RestartPolicy
}

export interface ImageLabelReading {
  readonly defaults: ImageLabelDefaults
  readonly ignored: readonly { readonly label: string; readonly reason: string }[]
}

export const memoryLabel = 'roost.memory_mb'
export const vcpusLabel = 'roost.vcpus'
export const restartPolicyLabel = 'roost.restart_policy'
/**
 * The kernel arguments of an image that brings its own kernel. They come before the platform's. This label is
 * not a default of an instance.
 */
export const kernelArgsLabel = 'roost.kernel_args'

const prefix = 'roost.'
const known = new Set([memoryLabel, vcpusLabel, restartPolicyLabel, kernelArgsLabel])
/**
 * The largest memory and number of processors that a label may name. No machine has that much; the user's
 * quotas decide what is really allowed.
 */
const maxMemoryMb = 1_048_576
const maxVcpus = 256

/** Reads the defaults. They still have to pass the limits that apply to a creator's own values. */
export function readImageLabels(labels: Readonly<Record<string, string>>): ImageLabelReading {
  const ignored: { label: string; reason: string }[] = []

  function read<T>(label: string, parse: (text: string) => T | undefined, expected: string): T | undefined {
    const text = labels[label]
    const value = text === undefined ? undefined : parse(text)
    if (text !== undefined && value === undefined)
      ignored.push({ label, reason: `'${text}' is not ${expected}` })
    return value
  }

  const memoryMb = read(memoryLabel, wholeNumber(maxMemoryMb), `a number of MiB from 1 to ${maxMemoryMb}`)
  const vcpus = read(vcpusLabel, wholeNumber(maxVcpus), `a number from 1 to ${maxVcpus}`)
  const policies = Object.values(RestartPolicy)
  const restartPolicy = read(
    restartPolicyLabel,
    (text) => policies.find((policy) => policy === text),
    `one of ${policies.join(', ')}`,
  )
  for (const label of Object.keys(labels)) {
    if (label.startsWith(prefix) && !known.has(label))
      ignored.push({ label, reason: 'there is no such label' })
  }
  return {
    defaults: {
      ...(memoryMb === undefined ? {} : { memoryMb }),
      ...(vcpus === undefined ? {} : { vcpus }),
      ...(restartPolicy === undefined ? {} : { restartPolicy }),
    },
    ignored,
  }
}

function wholeNumber(max: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
    return value >= 1 && value <= max ? value : undefined
  }
}
