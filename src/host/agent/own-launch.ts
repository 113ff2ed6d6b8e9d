import type { LaunchSpec } from '../../domain/host/api-protocol.ts'
import { digestOf } from '../instance/record.ts'
import type { LaunchCopy } from '../instance/store.ts'

/**
 * What this host launches an instance with that it fetched: what the API told, because the old host may lie.
 * Undefined if the copy is of another image or machine, so that neither it nor its memory may be used. Of
 * the copy only the version of the configuration stays while a memory waits, which began with that one.
 */
export function ownLaunch(
  { spec, image }: LaunchCopy,
  { told, memoryWaits }: { readonly told: LaunchSpec; readonly memoryWaits: boolean },
): LaunchCopy | undefined {
  const { memoryMb, vcpus } = told
  const isSame = image.digest === digestOf(told) && spec.memoryMb === memoryMb && spec.vcpus === vcpus
  if (!isSame) return undefined
  const { configVersion: newest, ...own } = told
  const began = spec.configVersion
  const isOlder = began === undefined || (Number.isSafeInteger(began) && began < (newest ?? 0))
  const configVersion = memoryWaits && isOlder ? began : newest
  return { image, spec: { ...own, ...(configVersion !== undefined && { configVersion }) } }
}
