import { strict as assert } from 'node:assert'
import type { CliDeps } from '../../../src/cli/cli-deps.ts'
import { runCli } from '../../../src/cli/program.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { createProofTokens } from '../../../src/db/service/proof-token.ts'
import { proofText } from '../../../src/domain/service/domain-proof.ts'
import { addUser } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import type { TestDatabase } from '../../support/postgres.ts'

const tokens = createProofTokens(new Uint8Array(32))

describe('the roost command of domains', () => {
  let own: TestDatabase
  let database: Database
  let text: string
  let isAsked = false
  /** The TXT records in DNS. Other names have none. */
  const texts = new Map<string, readonly string[]>()
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'domain command test' })
    text = proofText(tokens((await addUser(database, { name: 'ann' })).uuid))
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  async function roost(...args: readonly string[]) {
    let out = ''
    let notes = ''
    const deps: CliDeps = {
      write: (written) => void (out += written),
      note: (written) => void (notes += written),
      withDatabase: (work) => work(database),
      withControl: () => assert.fail(),
      readHostLease: async () => undefined,
      images: { store: () => assert.fail() },
      domainProof: { isAsked, tokens: async () => tokens, textsOf: async (name) => texts.get(name) },
      doctor: () => assert.fail(),
      platform: { dataDir: '/nowhere', halt: () => assert.fail() },
      authority: { file: undefined, metroDomain: 'roost.localhost', customDomains: () => assert.fail() },
    }
    const code = await runCli(args, deps)
    return { code, out, notes }
  }

  it('says which records prove a domain for a user, and what DNS has of them', async () => {
    texts.set('_roost-proof.example.com', ['v=spf1 -all'])
    const { out } = await roost('domain', 'proof', 'Shop.example.com.', '--user', 'ann', '--json')
    assert.deepEqual(JSON.parse(out), {
      domain: 'shop.example.com',
      user: 'ann',
      isAsked: false,
      proved: false,
      text,
      records: [
        { record: '_roost-proof.shop.example.com', seen: 'no answer' },
        { record: '_roost-proof.example.com', seen: 'no' },
      ],
    })
  })

  it('says that a domain is proved, and whether a proof is asked for', async () => {
    texts.set('_roost-proof.example.com', ['v=spf1 -all', text])
    isAsked = true
    const { code, out } = await roost('domain', 'proof', '*.shop.example.com', '--user', 'ann')
    assert.equal(code, 0)
    assert.match(out, /^\*\.shop\.example\.com is proved for ann\.\n/)
    assert.match(out, new RegExp(`_roost-proof\\.example\\.com +TXT +${text} +yes`))
    assert.match(out, /ROOST_DOMAIN_PROOF=txt/)
  })

  it('refuses a name that is no custom domain, and a user who does not exist', async () => {
    assert.equal((await roost('domain', 'proof', 'shop.example.com')).code, 2)
    const nobody = await roost('domain', 'proof', 'shop.example.com', '--user', 'nobody')
    assert.match(nobody.notes, /there is no user 'nobody'/)
    const single = await roost('domain', 'proof', 'com', '--user', 'ann')
    assert.match(single.notes, /'com' is no custom domain: it has a single label/)
  })
})
