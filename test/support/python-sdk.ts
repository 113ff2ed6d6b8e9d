import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import type { TestApi, TestUser } from './api-server.ts'

/** A script of a test is over within a second. */
const scriptLimitMs = 60_000

/**
 * What surrounds each script: `ukc` is the client of the SDK, and what the script returns is the answer. The
 * file is read from stdin.
 */
function program(script: string): string {
  const body = script.trimEnd().replaceAll(/^/gm, '    ')
  return `
import asyncio, json, sys
from unikraft_cloud import *
from unikraft_cloud.core.patch import REMOVE

async def script(ukc):
${body}

async def main():
    async with UnikraftCloud(base_url=sys.argv[1], token=sys.argv[2], trust_env=False) as ukc:
        found = await script(ukc)
    print(json.dumps(found, default=lambda one: one.model_dump(mode="json", exclude_none=True)))

asyncio.run(main())
`
}

/**
 * Runs a script in Python that calls the API with the SDK, as a user. The script is the body of an async
 * function. Returns what it returned; throws with what Python wrote if it failed.
 */
export async function runPythonSdk(
  api: Pick<TestApi, 'url'>,
  user: Pick<TestUser, 'token'>,
  script: string,
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
): Promise<any> {
  const installed = readInstalled()
  const python = requireInstalled(installed, 'python')
  const env = { PATH: '/usr/bin:/bin', PYTHONPATH: requireInstalled(installed, 'pythonSdk') }
  const child = spawn(python, ['-', api.url, user.token], { env, timeout: scriptLimitMs })
  child.stdin.end(program(dedented(script)))
  const exit = new Promise<number | null>((resolve, reject) => child.on('exit', resolve).on('error', reject))
  const [written, said, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  if (code !== 0) throw new Error(`the script in Python ended with ${code}:\n${said}`)
  return JSON.parse(written) as unknown
}

/** A text of several lines without the indentation that all of them share. */
function dedented(lines: string): string {
  const indents = lines.split('\n').flatMap((line) => (line.trim() === '' ? [] : /^ */.exec(line)![0].length))
  return lines.replaceAll(new RegExp(`^ {0,${Math.min(...indents)}}`, 'gm'), '')
}
