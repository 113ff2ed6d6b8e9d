import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { libraryPath } from '../../setup/libraries.mjs'
import { readInstalled, requireInstalled } from '../../src/launch/installed.ts'
import { testCertificate } from './gateway-http-certificate.ts'
import { until } from './until.ts'

const limitMs = 20_000

/** A running HAProxy, of the version that set-up extracted. */
export interface Haproxy {
  stop(): Promise<void>
}

/**
 * Starts HAProxy with these sections below `defaults`. `certificate` is the path of a certificate with its
 * key. Resolves when it listens on all of `ports`.
 */
export async function startHaproxy(
  ports: readonly number[],
  sections: (certificate: string) => string,
): Promise<Haproxy> {
  const root = requireInstalled(readInstalled(), 'loadTools')
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-haproxy-'))
  const certificate = path.join(directory, 'certificate.pem')
  const config = path.join(directory, 'haproxy.cfg')
  const { cert, key } = await testCertificate()
  writeFileSync(certificate, `${cert}\n${key}`)
  writeFileSync(
    config,
    `defaults
  timeout connect 5s
  timeout client 20s
  timeout server 20s
${sections(certificate)}`,
  )
  const child = spawn(path.join(root, 'usr/sbin/haproxy'), ['-db', '-f', config], {
    env: { ...process.env, LD_LIBRARY_PATH: libraryPath(root) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text
  })
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
    rmSync(directory, { recursive: true })
  }
  try {
    for (const port of ports) {
      await until('HAProxy listens', async () => child.exitCode !== null || accepts(port), { limitMs })
      if (child.exitCode !== null) throw new Error('HAProxy has ended')
    }
  } catch (cause) {
    await stop()
    throw new Error(`HAProxy did not start: ${complaint}`, { cause })
  }
  return { stop }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
