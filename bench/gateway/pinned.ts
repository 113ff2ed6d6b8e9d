import { availableParallelism } from 'node:os'

/** The proxy under test has the first core for itself. Clients and upstreams share the last core. */
export const firstCore = 0
export const lastCore = availableParallelism() - 1

export function pinned(command: readonly string[], core: number): readonly string[] {
  return ['taskset', '-c', String(core), ...command]
}
