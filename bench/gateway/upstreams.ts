import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import path from 'node:path'
import { untilListens } from './listening.ts'
import { lastCore, pinned } from './pinned.ts'

export interface Upstreams {
  readonly http: number
  readonly tcp: number
  stop(): void
}

/** The port on which the sample listens. */
const httpPort = 8080
const tcpPort = 18_090
const sample = path.resolve(import.meta.dirname, '../../samples/hello/hello.c')

/**
 * Starts a web server that needs less processor time than any proxy, and a source of bytes without an end.
 */
export async function startUpstreams(directory: string): Promise<Upstreams> {
  const hello = path.join(directory, 'hello')
  execFileSync('musl-gcc', ['-O2', '-static', '-o', hello, sample])
  const source = ['busybox', 'nc', '-ll', '-p', String(tcpPort), '-e', 'cat', '/dev/zero']
  const children: readonly ChildProcess[] = [[hello], source].map((command) => {
    const [program = '', ...args] = pinned(command, lastCore)
    return spawn(program, args, { stdio: 'ignore' })
  })
  const stop = (): void => children.forEach((child) => child.kill('SIGKILL'))
  try {
    const ended = (): boolean => children.some(({ exitCode }) => exitCode !== null)
    await untilListens(httpPort, ended)
    await untilListens(tcpPort, ended)
  } catch (error) {
    stop()
    throw error
  }
  return { http: httpPort, tcp: tcpPort, stop }
}
