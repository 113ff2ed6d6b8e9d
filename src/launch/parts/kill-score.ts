import { writeFileSync } from 'node:fs'

/**
 * The platform's score (`oom_score_adj`). It is lower than that of processes without a score of their own
 * (0), and far lower than those of virtual machines (500) and their keepers (100).
 */
export const platformKillScore = -500

/**
 * Makes the kernel kill other processes first when memory runs out. This holds for the process `pid` and for
 * all processes that it starts from now on. Returns false if that is not permitted: it needs root with
 * CAP_SYS_RESOURCE, which containers often lack. Nothing depends on it.
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
