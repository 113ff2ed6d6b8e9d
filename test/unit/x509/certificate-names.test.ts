import { strict as assert } from 'node:assert'
import { readCertificateUpload } from '../../../src/x509/certificate-upload.ts'
import { makeTestCertificate } from '../../support/certificate-maker.ts'
import type { MadeCertificate } from '../../support/certificate-maker.ts'

describe('the names of an uploaded certificate', () => {
  const read = ({ pem: chain, pkey }: MadeCertificate, commonName = 'www.example.com') =>
    readCertificateUpload({
      commonName,
      chain,
      pkey,
      nowMs: Date.now(),
      chainsOf: async () => [],
    })

  const coverage: readonly [names: readonly string[] | undefined, subject: string, cn: string, boolean][] = [
    [['www.example.com'], 'CN=x', 'www.example.com', true],
    [['WWW.Example.COM'], 'CN=x', 'www.example.com', true],
    [['*.example.com'], 'CN=x', 'www.example.com', true],
    [['*.example.com'], 'CN=x', '*.example.com', true],
    [['*.example.com'], 'CN=x', 'example.com', false],
    [['*.example.com'], 'CN=x', 'a.www.example.com', false],
    [['*.example.com'], 'CN=x', '*.www.example.com', false],
    [['www.example.com'], 'CN=x', '*.example.com', false],
    [['w*.example.com'], 'CN=x', 'www.example.com', false],
    [['other.example.com'], 'CN=www.example.com', 'www.example.com', false],
    [undefined, 'CN=www.example.com', 'www.example.com', true],
    [undefined, 'CN=*.example.com', 'www.example.com', true],
    [undefined, 'CN=*.example.com', '*.example.com', true],
    [undefined, 'CN=other.example.com', 'www.example.com', false],
    [undefined, 'O=www.example.com', 'www.example.com', false],
  ]
  for (const [names, subject, commonName, isCovered] of coverage) {
    const what = names === undefined ? `the subject ${subject}` : `the names ${names.join()} and ${subject}`
    it(`${isCovered ? 'cover' : 'do not cover'} ${commonName}, being ${what}`, async () => {
      const leaf = await makeTestCertificate({ subject, ...(names !== undefined && { names }) })
      const outcome = await read(leaf, commonName)
      assert.equal(outcome.ok, isCovered, JSON.stringify(outcome))
      if (!outcome.ok) assert.equal(outcome.flaw.kind, 'other-name')
    })
  }

  it('are listed, the first few of them, if they do not cover the name', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `n${index}.example.com`)
    const many = await makeTestCertificate({ subject: 'CN=www.example.com', names })
    assert.deepEqual(await read(many), {
      ok: false,
      flaw: { kind: 'other-name', names: names.slice(0, 5), more: 2 },
    })
    const nameless = await makeTestCertificate({ subject: 'O=Tests' })
    assert.deepEqual(await read(nameless), { ok: false, flaw: { kind: 'other-name', names: [], more: 0 } })
  })
})
