import { writeFileSync } from 'node:fs'

/**
 * Below everything that has no score of its own, far below virtual machines (500) and their keepers (100).
 */
export const platformKillScore = -500

/**
 * Has the kernel kill others before this process where memory runs out, and before what it starts from now
 * on. False where that is not permitted: it takes root with CAP_SYS_RESOURCE, which containers often lack.
 * Nothing depends on it.
 */
export function keepFromKiller(
  pid: number,
  write: (file: string, text: string) => void = writeFileSync,
): boolean {
  try {
    write(`/proc/${pid}/oom_score_adj`, String(platformKillScore))
    return true
  } catch {
    return false
  }
}
