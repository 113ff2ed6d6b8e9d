import assert from 'node:assert/strict'
import { createPrivateKey, randomUUID, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { openTemporalControl } from '../../../src/control/temporal-control.ts'
import { certificateSettings } from '../../../src/db/certificate/settings.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { certificateKeyContext } from '../../../src/db/service/feed-routes.ts'
import { createSecretBox, generateSecretKey, parseSecretKey } from '../../../src/db/secret-box.ts'
import { addUser } from '../../support/accounts.ts'
import { startPebble } from '../../support/pebble.ts'
import type { Pebble } from '../../support/pebble.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { arrives, newNamespace, openCrashStage, repeatedly } from '../crash-stage.ts'
import type { CertificateCrashOptions } from './crash-part.ts'
import { startMortalPart } from '../mortal-part.ts'
import { readRows } from '../../support/rows.ts'

const challengePath = '/.well-known/acme-challenge/'

export interface CertificateCrashScene {
  /**
   * Requests a certificate whose worker dies at the point and is followed by another worker. Resolves when
   * the certificate is served and was checked. Each certificate has its own worker, so many can be tested
   * side by side.
   */
  liveThrough(point: string): Promise<void>
  /** The number of orders that the authority has received since its start. */
  ordersMade(): number
  certificatesIssued(): number
  close(): Promise<void>
}

export async function openCertificateCrashScene(): Promise<CertificateCrashScene> {
  const stage = await openCrashStage('certificate')
  const { env, bundle } = stage
  const own = await createTestDatabase()
  const database = await openDatabase({ url: own.url, applicationName: 'crash test' })
  const pebble = await startPebble()
  const gateway = await startGateway(database, pebble.httpPort)
  const secretKey = generateSecretKey()
  const userUuid = (await addUser(database, { name: 'ann' })).uuid
  const { directoryUrl, ca, resolver, httpPort, tlsPort } = pebble
  const authority = { directoryUrl, ca, resolver, httpPort, tlsPort }
  const shared = { databaseUrl: own.url, bundle, secretKey, authority }
  return {
    async liveThrough(point) {
      const place = { address: env.connection.options.address, namespace: await newNamespace(env) }
      const uuid = randomUUID()
      await insertCertificate(database, { uuid, userUuid })
      await begin(database, place, uuid)
      const victim = startMortalPart('certificate/crash-part', {
        ...shared,
        place,
        point,
      })
      await victim.died
      const next = startMortalPart('certificate/crash-part', {
        ...shared,
        place,
      } satisfies CertificateCrashOptions)
      try {
        await until(`it is served after ${point}`, () => isServed(database, uuid), arrives)
        await assertWhole(database, { uuid, secretKey })
      } finally {
        await next.end()
      }
    },
    ordersMade: () => countOf(pebble, /Added order /g),
    certificatesIssued: () => countOf(pebble, /Issued certificate serial /g),
    async close() {
      gateway.closeAllConnections()
      gateway.close()
      await pebble.stop()
      await database.close()
      await own.drop()
      await stage.close()
    },
  }
}

function countOf(pebble: Pebble, what: RegExp): number {
  return pebble.said().match(what)?.length ?? 0
}

/** Answers challenges from the rows, as a gateway does. */
async function startGateway(database: Database, port: number): Promise<Server> {
  const answerOf = async (token: string): Promise<string | undefined> => {
    const text = 'select key_authorization as "answer" from acme_challenges where id = $1'
    return (await readRows<{ answer: string }>(database, { text, values: [token] }))[0]?.answer
  }
  const server = createServer((request, response) => {
    void answerOf((request.url ?? '').slice(challengePath.length)).then((answer) =>
      response.writeHead(answer === undefined ? 404 : 200).end(answer),
    )
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

async function insertCertificate(
  database: Database,
  { uuid, userUuid }: { readonly uuid: string; readonly userUuid: string },
): Promise<void> {
  const name = `shop-${uuid.slice(0, 8)}`
  await readRows(database, {
    text: `insert into certificates (uuid, user_uuid, name, common_name, state) values ($1, $2, $3, $4, 'pending')`,
    values: [uuid, userUuid, name, `${name}.example.test`],
  })
}

/**
 * Starts the workflow as the API does. A new namespace may not be known everywhere yet, so failed starts are
 * repeated.
 */
async function begin(
  database: Database,
  place: CertificateCrashOptions['place'],
  uuid: string,
): Promise<void> {
  const row = await rowOf(database, uuid)
  assert.ok(row)
  const control = openTemporalControl(place)
  await repeatedly('its workflow is begun', () => control.certificates.ensureStarted(row.settings))
  await control.close()
}

interface CertificateParts {
  readonly state: string
  readonly chain: string | null
  readonly keySealed: string | null
  readonly commonName: string
}

async function rowOf(database: Database, uuid: string) {
  const text = `select state, chain, key_sealed as "keySealed", common_name as "commonName", name, user_uuid as "userUuid"
    from certificates where uuid = $1`
  const [row] = await readRows<CertificateParts & { name: string; userUuid: string }>(database, {
    text,
    values: [uuid],
  })
  if (row === undefined) return undefined
  const unwritten = { revision: 0, attempt: 0, nextAt: null, failure: null, notBefore: null, notAfter: null }
  const settings = certificateSettings({ ...row, ...unwritten, uuid, state: 'pending' })
  return { ...row, settings }
}

async function isServed(database: Database, uuid: string): Promise<boolean> {
  return (await rowOf(database, uuid))?.state === 'valid'
}

/**
 * Asserts that there is one certificate with its key, made in one attempt, and that nothing of the order is
 * left.
 */
async function assertWhole(
  database: Database,
  { uuid, secretKey }: { readonly uuid: string; readonly secretKey: string },
): Promise<void> {
  const row = await rowOf(database, uuid)
  assert.ok(row?.chain && row.keySealed)
  const key = createSecretBox(parseSecretKey(secretKey)).open(row.keySealed, certificateKeyContext(uuid))
  const certificate = new X509Certificate(row.chain)
  assert.ok(certificate.checkPrivateKey(createPrivateKey(key)), 'its key is kept with it')
  assert.equal(certificate.checkHost(row.commonName), row.commonName)
  const text = `select (select count(*)::int from certificate_orders where certificate_uuid = $1) as orders,
    (select count(*)::int from acme_challenges where certificate_uuid = $1) as challenges,
    (select count(*)::int from certificate_attempts where certificate_uuid = $1) as attempts,
    (select count(*)::int from certificate_attempts where certificate_uuid = $1 and ended_at is null) as "underWay"`
  const [left] = await readRows<object>(database, { text, values: [uuid] })
  assert.deepEqual({ ...left }, { orders: 0, challenges: 0, attempts: 1, underWay: 0 })
}
