import { execFile } from 'node:child_process'
import type { ExecFileOptions } from 'node:child_process'
import { promisify } from 'node:util'

export interface ProgramOutcome {
  readonly code: number
  /** What it printed, errors last. */
  readonly text: string
}

/** Runs a program to its end, also if that is a failure. */
export async function outcomeOf(
  program: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<ProgramOutcome> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], { ...options, encoding: 'utf8' })
    return { code: 0, text: stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, text: stdout + stderr }
  }
}
