import { strict as assert } from 'node:assert'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { withDatabase } from '../../src/cli/database-session.ts'
import { openDatabase } from '../../src/db/database.ts'
import { instanceChannel } from '../../src/db/instance/channel.ts'
import { openInstanceListener } from '../../src/db/instance/listener.ts'
import { migrate } from '../../src/db/schema/migrate.ts'
import { asPostgresUrl } from '../../src/settings/setting-formats.ts'
import { makeTestCertificate } from '../support/certificate-maker.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { readRows } from '../support/rows.ts'
import { startTlsPostgres, withSsl } from '../support/tls-postgres.ts'
import type { TlsPostgres } from '../support/tls-postgres.ts'
import { until } from '../support/until.ts'

/** Does what the parts do with the database at this address: migrates, listens and asks through the pool. */
async function useAt(url: string): Promise<readonly { readonly ssl: boolean }[]> {
  const database = await openDatabase({ url, applicationName: 'tls test', poolSize: 2 })
  try {
    await migrate(database)
    const changed: string[] = []
    const listener = await openInstanceListener(database, {
      onChange: (uuid) => changed.push(uuid),
      onFeed: () => undefined,
      onEvents: () => undefined,
      onReconnect: () => undefined,
    })
    try {
      await readRows(database, { text: 'select pg_notify($1, $2)', values: [instanceChannel, 'heard'] })
      const found = await readRows<{ ssl: boolean }>(database, {
        text: `select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'tls test%'`,
      })
      await until('it hears', () => changed.includes('heard'), { limitMs: 10_000 })
      return found
    } finally {
      await listener.close()
    }
  } finally {
    await database.close()
  }
}

describe('a database over TLS', () => {
  let server: TlsPostgres
  let directory: string
  let rightRoot: string
  let wrongRoot: string
  let asIp: string
  before(async () => {
    server = await startTlsPostgres()
    directory = await mkdtemp(path.join(tmpdir(), 'roost-tls-'))
    const other = await makeTestCertificate({ subject: 'CN=somebody else', authority: true })
    rightRoot = await file('right.crt', server.authority.pem)
    wrongRoot = await file('wrong.crt', other.pem)
    asIp = server.url.replace('localhost', '127.0.0.1')
  })
  after(async () => {
    await server?.stop()
    await rm(directory, { recursive: true, force: true })
  })

  async function file(name: string, text: string): Promise<string> {
    const made = path.join(directory, name)
    await writeFile(made, text)
    return made
  }

  const refused = async (url: string, message: RegExp): Promise<void> => {
    await assert.rejects(useAt(url), { name: 'UnusableDatabase', message })
    const command = withDatabase(url, async () => await Promise.resolve())
    await assert.rejects(command, { name: 'CliFailure', message })
  }

  for (const sslmode of ['require', 'verify-ca', 'verify-full']) {
    it(`is used by TLS alone with ${sslmode}, through the pool and by whoever listens`, async () => {
      const connections = await useAt(withSsl(server.url, { sslmode, sslrootcert: rightRoot }))
      assert.ok(connections.length >= 2)
      assert.ok(connections.every(({ ssl }) => ssl))
    })

    it(`is not trusted with ${sslmode} if another authority issued its certificate`, async () => {
      const url = withSsl(server.url, { sslmode, sslrootcert: wrongRoot })
      await refused(
        url,
        /^the database at localhost:\d+\/postgres is not trusted: .*: name the authority of its certificate by sslrootcert in DATABASE_URL$/,
      )
    })
  }

  it('is used by TLS with require if no authority is named, whoever issued its certificate', async () => {
    const connections = await useAt(withSsl(server.url, { sslmode: 'require' }))
    assert.ok(connections.every(({ ssl }) => ssl))
  })

  it('is not trusted with verify-full if no authority is named, because its own is not one of the system', async () => {
    await refused(withSsl(server.url, { sslmode: 'verify-full' }), /is not trusted: .*: name the authority/)
  })

  it('is not trusted with verify-full under a name that its certificate does not have', async () => {
    const ssl = { sslmode: 'verify-full', sslrootcert: rightRoot }
    await refused(
      withSsl(asIp, ssl),
      /is not trusted: .*: let DATABASE_URL have a host name that is in its certificate$/,
    )
    await useAt(withSsl(asIp, { ...ssl, sslmode: 'verify-ca' }))
  })

  it('refuses a connection without TLS, and the message says what to add', async () => {
    for (const url of [server.url, withSsl(server.url, { sslmode: 'disable' })])
      await refused(
        url,
        /refuses: no pg_hba.conf entry .*: .* if that asks for TLS, add sslmode=verify-full to DATABASE_URL$/,
      )
  })

  it('is not spoken to without TLS if TLS is asked for and the server has none', async () => {
    const plain = await createTestDatabase()
    try {
      await refused(
        withSsl(plain.url, { sslmode: 'require' }),
        /does not answer: The server does not support SSL connections: start PostgreSQL with TLS, or correct host, port and sslmode in DATABASE_URL$/,
      )
    } finally {
      await plain.drop()
    }
  })

  it('can not be used if a file that the URL names can not be read: the message has the file', async () => {
    const sslrootcert = path.join(directory, 'absent.crt')
    await refused(
      withSsl(server.url, { sslmode: 'verify-full', sslrootcert }),
      /can not be used: sslrootcert in DATABASE_URL is '.*absent\.crt', which can not be read \(ENOENT\): name a file that this part may read$/,
    )
  })

  it('gets the certificate of the client if it asks for one', async () => {
    const client = await makeTestCertificate({ subject: 'CN=roost', issuer: server.authority })
    const sslcert = await file('client.crt', client.pem)
    const sslkey = await file('client.key', client.pkey)
    await server.requireCertificates()
    const ssl = { sslmode: 'verify-full', sslrootcert: rightRoot }
    await until(
      'it asks for one',
      async () =>
        await useAt(withSsl(server.url, ssl)).then(
          () => false,
          () => true,
        ),
      {
        limitMs: 10_000,
      },
    )
    const connections = await useAt(withSsl(server.url, { ...ssl, sslcert, sslkey }))
    assert.ok(connections.every(({ ssl: isTls }) => isTls))
  })

  for (const [parameters, message] of [
    [
      'sslmode=prefer',
      "DATABASE_URL has sslmode 'prefer'; it has to be disable, require, verify-ca, verify-full",
    ],
    ['ssl=true', "DATABASE_URL has 'ssl'; it may have sslmode, sslrootcert, sslcert, sslkey"],
    ['sslrootcert=/ca.crt', 'DATABASE_URL has sslrootcert and no sslmode that uses it'],
    [
      'sslmode=verify-ca',
      "DATABASE_URL has sslmode 'verify-ca', with which sslrootcert has to name a file; or make it verify-full",
    ],
    [
      'sslmode=require&sslrootcert=system',
      "DATABASE_URL has sslmode 'require', with which sslrootcert has to name a file; or make it verify-full",
    ],
    [
      'sslmode=require&sslcert=/c.crt',
      'DATABASE_URL has one of sslcert and sslkey; it has to have both or none',
    ],
  ] as const) {
    it(`is refused with ${parameters}`, () => {
      const url = `postgres://roost:secret@db.example.com/roost?${parameters}`
      assert.throws(() => asPostgresUrl(url, 'DATABASE_URL'), { name: 'SettingError', message })
    })
  }
})
