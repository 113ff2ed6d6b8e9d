import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const programs = path.resolve(import.meta.dirname, '../../src/bin')

export interface Refusal {
  readonly code: number
  readonly stderr: string
}

/**
 * Runs a program of `src/bin` that can not start with these settings. Returns its exit code and its output.
 */
export async function refusalOf(
  program: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Refusal> {
  const options = { env: { ...process.env, ...env } }
  return run(process.execPath, [path.join(programs, `${program}.ts`), ...args], options).then(
    () => assert.fail('it started'),
    (error: unknown) => error as Refusal,
  )
}
