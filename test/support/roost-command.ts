import { execFile } from 'node:child_process'
import path from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { createApiClient } from './api-client.ts'
import type { ApiClient } from './api-client.ts'
import type { Stack } from './stack.ts'

const run = promisify(execFile)
const program = path.resolve(import.meta.dirname, '../../src/bin/roost.ts')
const limitMs = 60_000

/**
 * Runs `npx roost admin <args>` on the machine of a stack and returns its output. Rejects if the exit code
 * is not 0.
 */
export async function roost(
  stack: Stack,
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return run(process.execPath, [program, 'admin', ...args], {
    timeout: limitMs,
    env: { ...process.env, ROOST_DATA_DIR: stack.dataDir },
  })
}

/** Makes a further user of the stack and returns a client with that user's token. */
export async function asNewUser(stack: Stack, name: string): Promise<ApiClient> {
  await roost(stack, 'user', 'create', name)
  const { stdout } = await roost(stack, 'token', 'create', name)
  return createApiClient({ url: stack.apiUrl, token: stdout.trim() })
}
