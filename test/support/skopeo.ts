import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { testUsers } from './registry.ts'

const run = promisify(execFile)
const skopeoTimeoutMs = 60_000

export interface Copied {
  readonly ok: boolean
  /** The text that skopeo printed when it failed. */
  readonly complaint: string
}

/**
 * Copies an image as a user. Does not throw: a failure is in the result, with the text that skopeo printed.
 */
export async function skopeoCopy(
  { from, to, user }: { readonly from: string; readonly to: string; readonly user: string },
  ...options: readonly string[]
): Promise<Copied> {
  return await skopeo(
    'copy',
    '-q',
    ...plain,
    ...credentials(user, to.startsWith('docker:') ? 'dest' : 'src'),
    ...options,
    from,
    to,
  )
}

export async function skopeoDelete(image: string, user: string): Promise<Copied> {
  const password = passwordOf(user)
  return await skopeo('delete', '--tls-verify=false', `--creds=${user}:${password}`, image)
}

const plain = ['--src-tls-verify=false', '--dest-tls-verify=false']

function credentials(user: string, side: 'src' | 'dest'): readonly string[] {
  return [`--${side}-creds=${user}:${passwordOf(user)}`]
}

function passwordOf(user: string): string {
  return testUsers.find(({ name }) => name === user)?.password ?? 'wrong'
}

async function skopeo(...args: readonly string[]): Promise<Copied> {
  try {
    await run('skopeo', ['--insecure-policy', ...args], { timeout: skopeoTimeoutMs })
    return { ok: true, complaint: '' }
  } catch (error) {
    return {
      ok: false,
      complaint: error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error),
    }
  }
}
