import type { ImageLabelDefaults } from '../image/labels.ts'
import { RestartPolicy } from './restart-policy.ts'

/** The fields that the creator of an instance may leave out. */
export interface InstanceWishes {
  readonly memoryMb?: number
  readonly vcpus?: number
  readonly restartPolicy?: RestartPolicy
  readonly autostart?: boolean
  readonly replicas?: number
  readonly env?: Readonly<Record<string, string>>
}

export type ResolvedWishes = Required<InstanceWishes>

export const defaultMemoryMb = 128
export const defaultVcpus = 1
/** How long what is connected may take to end before a restart, unless the request says otherwise. */
export const defaultRestartDrainMs = 5_000

/** The creator's values count first, then the image's labels, then the platform's defaults. */
export function resolveInstanceDefaults(wishes: InstanceWishes, labels: ImageLabelDefaults): ResolvedWishes {
  return {
    memoryMb: wishes.memoryMb ?? labels.memoryMb ?? defaultMemoryMb,
    vcpus: wishes.vcpus ?? labels.vcpus ?? defaultVcpus,
    restartPolicy: wishes.restartPolicy ?? labels.restartPolicy ?? RestartPolicy.Never,
    autostart: wishes.autostart ?? false,
    replicas: wishes.replicas ?? 0,
    env: wishes.env ?? {},
  }
}
