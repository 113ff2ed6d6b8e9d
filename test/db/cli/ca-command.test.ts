import { strict as assert } from 'node:assert'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { CliDeps, CustomDomainsAuthority } from '../../../src/cli/cli-deps.ts'
import { runCli } from '../../../src/cli/program.ts'

describe('the roost command of authorities', () => {
  let directory: string
  let authorityFile: string | undefined
  let customDomains: CustomDomainsAuthority
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-ca-'))
    authorityFile = path.join(directory, 'authority.crt')
    customDomains = { certificate: 'the other root\n' }
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  async function roost(...args: readonly string[]) {
    let out = ''
    let notes = ''
    const deps: CliDeps = {
      write: (text) => void (out += text),
      note: (text) => void (notes += text),
      withDatabase: () => assert.fail(),
      withControl: () => assert.fail(),
      readHostLease: () => assert.fail(),
      images: { store: () => assert.fail() },
      domainProof: { isAsked: false, tokens: () => assert.fail(), textsOf: () => assert.fail() },
      doctor: () => assert.fail(),
      platform: { dataDir: '/nowhere', halt: () => assert.fail() },
      authority: {
        file: authorityFile,
        metroDomain: 'roost.localhost',
        customDomains: async () => customDomains,
      },
    }
    const code = await runCli(args, deps)
    return { code, out, notes }
  }

  it('prints the root and nothing else, and beside it how to trust it', async () => {
    writeFileSync(String(authorityFile), 'the root\n')
    const { code, out, notes } = await roost('ca')
    assert.deepEqual([code, out], [0, 'the root\n'])
    for (const hint of ['roost.localhost', `--cacert ${authorityFile}`, 'update-ca-certificates', 'Firefox'])
      assert.ok(notes.includes(hint), hint)
    assert.equal((await roost('ca', '--path')).out, `${authorityFile}\n`)
    assert.deepEqual(JSON.parse((await roost('ca', '--json')).out), {
      metroDomain: 'roost.localhost',
      file: authorityFile,
      certificate: 'the root\n',
    })
  })

  it('says that there is no root, and why', async () => {
    const missing = await roost('ca')
    assert.deepEqual([missing.code, missing.out], [1, ''])
    assert.match(missing.notes, /npm start/)
    authorityFile = undefined
    assert.match((await roost('ca')).notes, /ROOST_METRO_CERT_FILE/)
  })

  it('prints the root for custom domains apart from it, and what trusting that one means', async () => {
    writeFileSync(String(authorityFile), 'the root\n')
    assert.match((await roost('ca')).notes, /roost admin ca --custom-domains/)
    const { code, out, notes } = await roost('ca', '--custom-domains')
    assert.deepEqual([code, out], [0, 'the other root\n'])
    assert.match(notes, /any site\s+there is/)
    assert.deepEqual(JSON.parse((await roost('ca', '--custom-domains', '--json')).out), {
      certificate: 'the other root\n',
    })
    assert.match((await roost('ca', '--custom-domains', '--path')).notes, /in the database/)
  })

  it('says so if custom domains have their certificates from another authority', async () => {
    customDomains = { directory: 'https://acme.example/directory' }
    const { code, out, notes } = await roost('ca', '--custom-domains')
    assert.deepEqual([code, out], [1, ''])
    assert.match(notes, /acme\.example.*ROOST_ACME_DIRECTORY_URL/)
  })
})
