import { availableParallelism } from 'node:os'

/** The core of the proxy under test, which nothing else uses. Clients and upstreams share the last core. */
export const firstCore = 0
export const lastCore = availableParallelism() - 1

export function pinned(command: readonly string[], core: number): readonly string[] {
  return ['taskset', '-c', String(core), ...command]
}
