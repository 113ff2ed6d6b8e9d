import { availableParallelism } from 'node:os'

/** The proxy under test has this core for itself; who asks and who answers share the last one. */
export const firstCore = 0
export const lastCore = availableParallelism() - 1

export function pinned(command: readonly string[], core: number): readonly string[] {
  return ['taskset', '-c', String(core), ...command]
}
