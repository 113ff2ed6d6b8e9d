import { strict as assert } from 'node:assert'
import { X509Certificate } from 'node:crypto'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { readCertificateUpload } from '../../../src/x509/certificate-upload.ts'

const run = promisify(execFile)
const name = 'www.openssl.example'

/** These tests run the OpenSSL commands that manuals recommend, and those that refusals recommend. */
describe('what OpenSSL makes', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'roost-openssl-'))
  })
  after(() => rm(folder, { recursive: true }))

  const openssl = (...args: readonly string[]) => run('openssl', [...args], { cwd: folder })
  const text = (file: string) => readFile(path.join(folder, file), 'utf8')
  const read = async (chain: string, pkey: string) =>
    readCertificateUpload({
      commonName: name,
      chain,
      pkey,
      nowMs: Date.now(),
      chainsOf: async () => [],
    })
  const kinds = async (chain: string, pkey: string) => {
    const outcome = await read(chain, pkey)
    return outcome.ok ? 'accepted' : outcome.flaw.kind
  }
  const selfSigned = ['req', '-x509', '-nodes', '-days', '30', '-subj', `/CN=${name}`]

  it('by `req -x509` is accepted, whether the certificate says that it is an authority or not', async () => {
    const into = ['-newkey', 'rsa:2048', '-keyout', 'a.key', '-out', 'a.pem']
    await openssl(...selfSigned, ...into)
    assert.ok(new X509Certificate(await text('a.pem')).ca)
    assert.equal(await kinds(await text('a.pem'), await text('a.key')), 'accepted')
    await openssl(...selfSigned, ...into, '-addext', 'basicConstraints=critical,CA:FALSE')
    assert.equal(await kinds(await text('a.pem'), await text('a.key')), 'accepted')
  })

  it('by `req -x509` with the key usage of an authority is refused; what that authority then issues by the refusal’s command is accepted', async () => {
    const into = ['-newkey', 'rsa:2048', '-keyout', 'ca.key', '-out', 'ca.pem']
    await openssl(...selfSigned, ...into, '-addext', 'keyUsage=critical,keyCertSign,cRLSign')
    assert.equal(await kinds(await text('ca.pem'), await text('ca.key')), 'authority')
    const request = [
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      's.key',
      '-out',
      's.csr',
      '-subj',
      '/CN=server',
    ]
    await openssl('req', ...request, '-addext', `subjectAltName=DNS:${name}`)
    const signing = ['-req', '-in', 's.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-copy_extensions', 'copy']
    await openssl('x509', ...signing, '-out', 's.pem')
    const chain = (await text('s.pem')) + (await text('ca.pem'))
    assert.equal(await kinds(chain, await text('s.key')), 'accepted')
  })

  it('by `ecparam` has its curve in front of the key, and is accepted', async () => {
    await openssl('ecparam', '-name', 'secp384r1', '-genkey', '-out', 'b.key')
    const key = ['-key', 'b.key', '-out', 'b.pem', '-addext', 'basicConstraints=critical,CA:FALSE']
    await openssl(...selfSigned, ...key)
    assert.match(await text('b.key'), /^-----BEGIN EC PARAMETERS-----/)
    assert.equal(await kinds(await text('b.pem'), await text('b.key')), 'accepted')
  })

  it('with a passphrase is refused, and accepted once that is removed as the refusal says', async () => {
    const plain = ['-newkey', 'rsa:2048', '-keyout', 'c.key', '-out', 'c.pem']
    await openssl(...selfSigned, ...plain, '-addext', 'basicConstraints=critical,CA:FALSE')
    const sealing = ['-aes256', '-passout', 'pass:secret']
    await openssl('rsa', '-in', 'c.key', '-traditional', ...sealing, '-out', 'old.key')
    await openssl('pkey', '-in', 'c.key', ...sealing, '-out', 'new.key')
    for (const file of ['old.key', 'new.key']) {
      assert.equal(await kinds(await text('c.pem'), await text(file)), 'key-encrypted')
      await openssl('pkey', '-in', file, '-passin', 'pass:secret', '-out', 'open.key')
      assert.equal(await kinds(await text('c.pem'), await text('open.key')), 'accepted')
    }
  })

  it('in DER is refused, and accepted once it is converted as the refusal says', async () => {
    const plain = ['-newkey', 'rsa:2048', '-keyout', 'd.key', '-out', 'd.pem']
    await openssl(...selfSigned, ...plain, '-addext', 'basicConstraints=critical,CA:FALSE')
    await openssl('x509', '-in', 'd.pem', '-outform', 'der', '-out', 'd.der')
    await openssl('pkey', '-in', 'd.key', '-outform', 'der', '-out', 'dkey.der')
    const [der, key] = await Promise.all(
      ['d.der', 'dkey.der'].map((file) => readFile(path.join(folder, file))),
    )
    assert.equal(await kinds(der!.toString('base64'), await text('d.key')), 'chain-not-pem')
    assert.equal(await kinds(await text('d.pem'), key!.toString('base64')), 'key-not-pem')
    await openssl('x509', '-inform', 'der', '-in', 'd.der', '-out', 'd2.pem')
    await openssl('pkey', '-inform', 'der', '-in', 'dkey.der', '-out', 'd2.key')
    assert.equal(await kinds(await text('d2.pem'), await text('d2.key')), 'accepted')
  })

  it('below an authority of its own is ordered, and its texts around the pieces are left out', async () => {
    const from = (file: string) => ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${file}.key`]
    await openssl('req', '-x509', ...from('root'), '-subj', '/O=Own/CN=Own Root', '-out', 'root.pem')
    await openssl('req', ...from('between'), '-subj', '/O=Own/CN=Own Authority', '-out', 'between.csr')
    await writeFile(path.join(folder, 'ca.ext'), 'basicConstraints=critical,CA:TRUE\n')
    const signing = ['x509', '-req', '-CAcreateserial', '-days', '20', '-text']
    const sign = (request: string, by: string, ext: string, out: string) =>
      openssl(
        ...signing,
        '-in',
        request,
        '-CA',
        `${by}.pem`,
        '-CAkey',
        `${by}.key`,
        '-extfile',
        ext,
        '-out',
        out,
      )
    await sign('between.csr', 'root', 'ca.ext', 'between.pem')
    await openssl('req', ...from('leaf'), '-subj', `/CN=${name}`, '-out', 'leaf.csr')
    await writeFile(
      path.join(folder, 'leaf.ext'),
      `subjectAltName=DNS:${name}\nextendedKeyUsage=serverAuth\n`,
    )
    await sign('leaf.csr', 'between', 'leaf.ext', 'leaf.pem')
    const files = await Promise.all(['root.pem', 'between.pem', 'leaf.pem'].map(text))
    const outcome = await read(files.join(''), await text('leaf.key'))
    assert.ok(outcome.ok, JSON.stringify(outcome))
    assert.partialDeepStrictEqual(outcome.facts, {
      subject: `CN=${name}`,
      issuer: 'CN=Own Authority,O=Own',
    })
    assert.ok(!outcome.chain.includes('Subject:'))
    assert.equal(outcome.chain.match(/BEGIN CERTIFICATE/g)?.length, 2)
  })
})
