import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { libraryPath } from '../../setup/libraries.mjs'
import { untilListens } from './listening.ts'
import { lastCore, pinned } from './pinned.ts'
import { nginxTemporaryPaths } from './reference-proxies.ts'

export interface Upstreams {
  readonly http: number
  readonly tcp: number
  /** Answers `/1` and `/100` with a body of as many MiB, and `/taken` once it has read a request's body. */
  readonly bodies: number
  stop(): void
}

/** The port on which the sample listens. */
const httpPort = 8080
const tcpPort = 18_090
const bodiesPort = 18_091
export const bodyMebibytes = [1, 100] as const
const sample = path.resolve(import.meta.dirname, '../../samples/hello/hello.c')

/**
 * Starts a web server that needs less processor time than any proxy, a source of bytes without an end, and a
 * server of large bodies. `root` is the directory into which set-up extracted nginx.
 */
export async function startUpstreams(root: string, directory: string): Promise<Upstreams> {
  const hello = path.join(directory, 'hello')
  execFileSync('musl-gcc', ['-O2', '-static', '-o', hello, sample])
  const source = ['busybox', 'nc', '-ll', '-p', String(tcpPort), '-e', 'cat', '/dev/zero']
  const bodies = [path.join(root, 'usr/sbin/nginx'), '-c', bodiesConfig(directory)]
  const env = { ...process.env, LD_LIBRARY_PATH: libraryPath(root) }
  const children: readonly ChildProcess[] = [[hello], source, bodies].map((command) => {
    const [program = '', ...args] = pinned(command, lastCore)
    return spawn(program, args, { stdio: 'ignore', ...(command === bodies ? { env } : {}) })
  })
  const stop = (): void => children.forEach((child) => child.kill('SIGKILL'))
  try {
    const ended = (): boolean => children.some(({ exitCode }) => exitCode !== null)
    await untilListens(httpPort, ended)
    await untilListens(tcpPort, ended)
    await untilListens(bodiesPort, ended)
  } catch (error) {
    stop()
    throw error
  }
  return { http: httpPort, tcp: tcpPort, bodies: bodiesPort, stop }
}

function bodiesConfig(directory: string): string {
  for (const mebibytes of bodyMebibytes) {
    writeFileSync(path.join(directory, String(mebibytes)), Buffer.alloc(mebibytes << 20))
  }
  const config = path.join(directory, 'bodies.conf')
  writeFileSync(
    config,
    `daemon off;
master_process off;
pid ${directory}/bodies.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  keepalive_requests 1000000000;
  ${nginxTemporaryPaths(`${directory}/bodies_`)}
  server {
    listen 127.0.0.1:${bodiesPort};
    root ${directory};
    location = /taken {
      # A body is kept in memory until it is complete, and is dropped then.
      client_max_body_size 0;
      client_body_buffer_size ${bodyMebibytes.at(-1)}m;
      proxy_pass http://127.0.0.1:${bodiesPort}/empty;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
    }
    location = /empty { return 204; }
  }
}
`,
  )
  return config
}
