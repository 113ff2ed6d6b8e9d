import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import process from 'node:process'

const program = path.resolve(import.meta.dirname, '../../src/bin/roost.ts')
const defaultLimitMs = 60_000

/** The program `roost` of one user on a machine without an installation. */
export interface RoostProgram {
  /** A directory of its own, in which the program finds its configuration. */
  readonly home: string
  run(args: readonly string[], options?: RunOptions): Promise<Ended>
  /** Starts a command that goes on until it is stopped. */
  start(args: readonly string[], options?: RunOptions): Started
  remove(): Promise<void>
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** Default: that of this process. */
  readonly cwd?: string
  /** When the program is ended. Default: 60 s. */
  readonly limitMs?: number
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  out(): string
  err(): string
}

export async function createRoostProgram(
  access: { readonly url?: string; readonly token?: string } = {},
): Promise<RoostProgram> {
  const home = await mkdtemp(path.join(os.tmpdir(), 'roost-program-'))
  const start = (
    args: readonly string[],
    { env = {}, input, cwd, limitMs = defaultLimitMs }: RunOptions = {},
  ): Started => {
    const child = spawn(process.execPath, [program, ...args], {
      timeout: limitMs,
      ...(cwd !== undefined && { cwd }),
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        ROOST_DATA_DIR: path.join(home, 'nothing-runs-here'),
        ...(access.url !== undefined && { ROOST_ADDRESS: access.url }),
        ...(access.token !== undefined && { ROOST_TOKEN: access.token }),
        ...env,
      },
    })
    let out = ''
    let err = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (out += piece))
    child.stderr.setEncoding('utf8').on('data', (piece: string) => (err += piece))
    // A command may end before it has read all of its input.
    child.stdin.on('error', () => undefined).end(input ?? '')
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, out, err }))
    return { child, ended, out: () => out, err: () => err }
  }
  return {
    home,
    start,
    run: (args, options) => start(args, options).ended,
    remove: () => rm(home, { recursive: true, force: true }),
  }
}
