import { spawn } from 'node:child_process'
import { untilListens } from './listening.ts'
import { firstCore, pinned } from './pinned.ts'

/** The ports of a proxy. All proxies speak with the same upstream and use one core. */
export interface ProxyPorts {
  readonly http: number
  /** The port for HTTP/1.1 and HTTP/2, chosen by ALPN. */
  readonly https: number
  /** The port that ends TLS and passes bytes on. Some proxies would need more modules for it. */
  readonly tcp?: number
  /** The port of HTTP/1.1 before the server of large bodies. Not all proxies are compared there. */
  readonly bodies?: number
}

export interface Proxy {
  readonly name: string
  readonly pid: number
  readonly ports: ProxyPorts
  stop(): Promise<void>
}

export interface ProxyPlan {
  readonly directory: string
  readonly upstream: { readonly http: number; readonly tcp: number; readonly bodies: number }
  /** Paths of PEM files: certificate and key in one file, as HAProxy wants it, and in separate files. */
  readonly certificate: { readonly both: string; readonly chain: string; readonly key: string }
}

const stopLimitMs = 3_000

/** Starts a proxy on the core that proxies have for themselves. Resolves when it listens. */
export async function startProxy(how: {
  readonly name: string
  readonly command: readonly string[]
  readonly ports: ProxyPorts
  readonly env: Readonly<Record<string, string>>
}): Promise<Proxy> {
  const { name, command, ports, env } = how
  const [program = '', ...args] = pinned(command, firstCore)
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-2_000)
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  try {
    await untilListens(ports.https, () => child.exitCode !== null)
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`${name} did not start: ${complaint}`, { cause: error })
  }
  return {
    name,
    pid: child.pid ?? 0,
    ports,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
      await exited
      clearTimeout(timer)
    },
  }
}
