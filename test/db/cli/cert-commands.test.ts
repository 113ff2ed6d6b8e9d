import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { CliDeps } from '../../../src/cli/cli-deps.ts'
import { runCli } from '../../../src/cli/program.ts'
import { ControlUnavailable } from '../../../src/control/control-unavailable.ts'
import { addAttempt, endAttempt } from '../../../src/db/certificate/attempts.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import type { CertificateSettings } from '../../../src/domain/certificate/settings.ts'
import { addUser } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'
import { readRows } from '../../support/rows.ts'

describe('the roost command of certificates', () => {
  let own: TestDatabase
  let database: Database
  let retried: CertificateSettings[]
  let retryFails: Error | undefined
  let ann: string
  let bob: string
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'cert command test' })
    ann = (await addUser(database, { name: 'ann' })).uuid
    bob = (await addUser(database, { name: 'bob' })).uuid
  })
  after(async () => {
    await database.close()
    await own.drop()
  })
  beforeEach(async () => {
    retried = []
    retryFails = undefined
    const text = 'delete from certificates'
    await readRows(database, { text })
  })

  async function roost(...args: readonly string[]) {
    let out = ''
    let notes = ''
    const deps: CliDeps = {
      write: (text) => void (out += text),
      note: (text) => void (notes += text),
      withDatabase: (work) => work(database),
      withControl: (work) =>
        work({
          autoscales: { seen: () => assert.fail() },
          instances: { drainUntilMs: () => assert.fail(), hostGone: () => assert.fail() },
          volumes: { repair: () => assert.fail(), hostGone: () => assert.fail() },
          certificates: {
            async retry(settings) {
              if (retryFails !== undefined) throw retryFails
              retried.push(settings)
            },
          },
        }),
      readHostLease: async () => undefined,
      images: { store: () => assert.fail() },
      doctor: async () => ({ ok: true, checks: [] }),
      platform: { dataDir: '/nowhere', halt: () => assert.fail() },
      domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
      authority: { file: undefined, metroDomain: 'roost.localhost', customDomains: () => assert.fail() },
    }
    const code = await runCli(args, deps)
    return { code, out, notes }
  }

  interface Wanted {
    readonly userUuid?: string
    readonly name?: string
    readonly state?: string
    readonly attempt?: number
    readonly failure?: string
    readonly nextAt?: Date
    readonly origin?: string
    readonly notAfter?: Date
  }

  async function newCertificate(commonName: string, wanted: Wanted = {}): Promise<string> {
    const uuid = randomUUID()
    const {
      userUuid = ann,
      name = `cert-${uuid.slice(0, 8)}`,
      state = 'pending',
      origin = 'requested',
    } = wanted
    const isValid = state === 'valid'
    await readRows(database, {
      text: `insert into certificates (uuid, user_uuid, name, common_name, state, origin, attempt, failure, next_at, revision,
               chain, key_sealed, subject, issuer, serial_number, not_before, not_after)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 3, $10, $10, $10, $10, $10, $11, $12)`,
      values: [
        uuid,
        userUuid,
        name,
        commonName,
        state,
        origin,
        wanted.attempt ?? 0,
        wanted.failure ?? null,
        wanted.nextAt ?? null,
        isValid ? 'x' : null,
        isValid ? new Date(0) : null,
        isValid ? (wanted.notAfter ?? new Date('2099-01-01')) : null,
      ],
    })
    return uuid
  }

  it('lists those of all users or of one', async () => {
    await newCertificate('a.example.test', { name: 'of-ann', failure: 'leads elsewhere' })
    await newCertificate('b.example.test', { name: 'of-bob', userUuid: bob })
    const all = (await roost('cert', 'list')).out
    assert.match(all, /of-ann .* ann .* a\.example\.test .* pending .* leads elsewhere/)
    assert.match(all, /of-bob .* bob /)
    assert.doesNotMatch((await roost('cert', 'list', '--user', 'bob')).out, /of-ann/)
  })

  it('explains what was tried, what was seen, what the authority said, what comes next and what to do', async () => {
    const nextAt = new Date('2099-05-06T07:08:09Z')
    const uuid = await newCertificate('shop.example.test', {
      name: 'shop-cert',
      attempt: 2,
      failure: 'the authority saw another page',
      nextAt,
    })
    const problem = {
      type: 'urn:ietf:params:acme:error:unauthorized',
      detail: '404 from 192.0.2.9',
      status: 403,
    }
    for (const number of [1, 2]) {
      await addAttempt(database, uuid, { name: 'shop.example.test', authority: 'ca.test' })
      await endAttempt(
        database,
        { uuid, number },
        { outcome: 'failed', failure: `attempt ${number} saw another page`, problem },
      )
    }
    for (const wanted of [uuid, 'shop-cert', 'shop.example.test', 'SHOP.example.test.']) {
      const { code, out } = await roost('cert', 'explain', wanted)
      assert.equal(code, 0)
      assert.match(
        out,
        /^shop-cert is not there yet: attempt 2 of 8 failed\.\nnext: the next attempt, at 2099-05-06T07:08:09\.000Z; `roost admin cert retry shop-cert`/,
      )
      assert.match(out, /\nwhy: the authority saw another page\n/)
      assert.match(out, /\nattempt 2 with ca\.test, /)
      assert.match(out, /404 from 192\.0\.2\.9/)
      assert.match(out, /\nbefore:\n {2}- attempt 1 with ca\.test, .*: attempt 1 saw another page\n$/)
    }
  })

  it('explains an uploaded, a valid and a given-up certificate', async () => {
    const notAfter = new Date('2020-01-01')
    await newCertificate('old.example.test', { origin: 'uploaded', state: 'valid', notAfter })
    assert.match(
      (await roost('cert', 'explain', 'old.example.test')).out,
      /was uploaded for .*, and ended 2020/,
    )
    const good = await newCertificate('good.example.test', { state: 'valid' })
    await addAttempt(database, good, { name: 'good.example.test', authority: 'ca.test' })
    await endAttempt(database, { uuid: good, number: 1 }, { outcome: 'issued' })
    const { out } = await roost('cert', 'explain', 'good.example.test')
    assert.match(out, /is served for good\.example\.test, valid until 2099/)
    assert.match(out, /\nattempt 1 with ca\.test, .* to .*: issued\n$/)
    await newCertificate('bad.example.test', { state: 'error', attempt: 8, name: 'bad-cert' })
    assert.match(
      (await roost('cert', 'explain', 'bad.example.test')).out,
      /after 8 attempts\.\nnext: .*`roost admin cert retry bad-cert`/,
    )
  })

  it('makes a certificate be tried again at once, with the settings of its row', async () => {
    const uuid = await newCertificate('shop.example.test', {
      state: 'error',
      attempt: 8,
      failure: 'elsewhere',
    })
    const { code, out } = await roost('cert', 'retry', 'shop.example.test')
    assert.equal(code, 0)
    assert.match(out, /is tried for shop\.example\.test now; `roost admin cert explain/)
    assert.deepEqual(
      retried.map(({ certificateUuid, recorded }) => [certificateUuid, recorded?.state, recorded?.revision]),
      [[uuid, 'error', 3]],
    )
  })

  it('does not try a valid or an uploaded certificate again, and says so', async () => {
    await newCertificate('good.example.test', { state: 'valid' })
    await newCertificate('up.example.test', { state: 'valid', origin: 'uploaded' })
    assert.match((await roost('cert', 'retry', 'good.example.test')).notes, /there is nothing to try again/)
    assert.match((await roost('cert', 'retry', 'up.example.test')).notes, /was uploaded/)
    assert.deepEqual(retried, [])
  })

  it('asks which certificate is meant, and says if there is none or Temporal does not answer', async () => {
    await newCertificate('two.example.test', { name: 'same' })
    await newCertificate('two.example.test', { name: 'same', userUuid: bob, state: 'error' })
    assert.match((await roost('cert', 'retry', 'same')).notes, /same of ann, same of bob/)
    assert.equal((await roost('cert', 'retry', 'same', '--user', 'bob')).code, 0)
    assert.match((await roost('cert', 'explain', 'nothing')).notes, /there is no certificate 'nothing'/)
    retryFails = new ControlUnavailable('away')
    const { code, notes } = await roost('cert', 'retry', 'same', '--user', 'bob')
    assert.equal(code, 1)
    assert.match(notes, /is the stack running/)
  })
})
