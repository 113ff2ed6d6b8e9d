import { chownSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { makeTestCertificate } from './certificate-maker.ts'
import type { MadeCertificate } from './certificate-maker.ts'
import { startTestServer } from './embedded-postgres.ts'
import { until } from './until.ts'

/** A PostgreSQL server that takes connections by TLS alone. */
export interface TlsPostgres {
  /** The URL without a word about TLS. Its host is `localhost`, for which the server has a certificate. */
  readonly url: string
  /** The authority that issued the server's certificate. */
  readonly authority: MadeCertificate
  /** Takes from now on only clients that have a certificate of the authority. */
  requireCertificates(): Promise<void>
  stop(): Promise<void>
}

export async function startTlsPostgres(): Promise<TlsPostgres> {
  const authority = await makeTestCertificate({ subject: 'CN=authority of a database', authority: true })
  const own = await makeTestCertificate({ subject: 'CN=localhost', names: ['localhost'], issuer: authority })
  const server = await startTestServer()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query<{ directory: string }>(
    `select setting as directory from pg_settings where name = 'data_directory'`,
  )
  const directory = rows[0]?.directory ?? ''
  const { uid, gid } = statSync(directory)
  const write = (name: string, text: string): void => {
    const file = path.join(directory, name)
    writeFileSync(file, text, { mode: 0o600 })
    chownSync(file, uid, gid)
  }
  const admit = async (method: string): Promise<void> => {
    write('pg_hba.conf', `hostssl all all 127.0.0.1/32 ${method}\n`)
    await client.query('select pg_reload_conf()')
  }
  write('server.crt', own.pem)
  write('server.key', own.pkey)
  write('clients.crt', authority.pem)
  await client.query(`alter system set ssl_ca_file = 'clients.crt'`)
  await client.query('alter system set ssl = on')
  await admit('scram-sha-256')
  const refuses = async (): Promise<boolean> => {
    const plain = new pg.Client({ connectionString: server.url })
    const answered = await plain.connect().then(
      () => true,
      () => false,
    )
    await plain.end().catch(() => undefined)
    return !answered
  }
  await until('the server refuses connections without TLS', refuses, { limitMs: 10_000 })
  const url = new URL(server.url)
  url.hostname = 'localhost'
  return {
    url: url.href,
    authority,
    requireCertificates: () => admit('scram-sha-256 clientcert=verify-ca'),
    async stop() {
      await client.end()
      await server.stop()
    },
  }
}

/** The URL with what it says about TLS. */
export function withSsl(url: string, ssl: Readonly<Record<string, string>>): string {
  const asked = new URL(url)
  for (const [name, value] of Object.entries(ssl)) asked.searchParams.set(name, value)
  return asked.href
}
