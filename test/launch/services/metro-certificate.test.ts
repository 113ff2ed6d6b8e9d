import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { issueWildcard, makeAuthority } from '../../../src/launch/services/local-authority.ts'
import { authorityFile, openMetroCertificate } from '../../../src/launch/services/metro-certificate.ts'
import type { MetroCertificate } from '../../../src/launch/services/metro-certificate.ts'
import { UnusableCertificate } from '../../../src/x509/key-pair.ts'
import type { KeyPairPem } from '../../../src/x509/key-pair.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
const metroDomain = 'roost.localhost'
const dayMs = 86_400_000

describe('the certificate of the metro domain', () => {
  let directory: string
  let problems: string[]
  let changes: KeyPairPem[]
  let opened: MetroCertificate[]
  let nowMs: number
  let onLook: () => void

  beforeEach(() => {
    directory = path.join(mkdtempSync(path.join(tmpdir(), 'roost-metro-')), 'gateway')
    problems = []
    changes = []
    opened = []
    nowMs = Date.now()
    onLook = () => undefined
  })
  afterEach(async () => {
    await Promise.all(opened.map((one) => one.close()))
    rmSync(path.dirname(directory), { recursive: true, force: true })
  })

  async function open(
    files: { readonly certFile?: string; readonly keyFile?: string } = {},
    domain = metroDomain,
  ) {
    const one = await openMetroCertificate(
      { directory, metroDomain: domain, certFile: undefined, keyFile: undefined, ...files },
      { onChange: (pair) => changes.push(pair), onProblem: (message) => problems.push(message) },
      { nowMs: look, lookEveryMs: 5 },
    )
    opened.push(one)
    return one
  }
  /** The clock of the tests. Each check of the certificate reads it once, when the check begins. */
  const look = () => {
    onLook()
    return nowMs
  }
  const root = () => readFileSync(authorityFile({ directory, metroDomain }), 'utf8')
  const file = (name: string) => path.join(directory, 'metro', metroDomain, name)
  const leafOf = ({ chain }: KeyPairPem) => new X509Certificate(chain)

  /** Returns 'trusted', or the error of a client that trusts `ca` and asks for a name. */
  async function verify(pair: KeyPairPem, name: string, ca: string): Promise<string> {
    const server = createServer({ cert: pair.chain, key: pair.key }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ port, host: '127.0.0.1', servername: name, ca })
    try {
      return await Promise.race([
        once(socket, 'secureConnect').then(() => 'trusted'),
        once(socket, 'error').then(([error]) => (error as Error).message),
      ])
    } catch (error) {
      return (error as Error).message
    } finally {
      socket.destroy()
      server.close()
    }
  }

  it('is trusted by clients that trust the root, for the domain and the names below it', async () => {
    const { current } = await open()
    assert.equal(await verify(current, `anything.${metroDomain}`, root()), 'trusted')
    assert.equal(await verify(current, metroDomain, root()), 'trusted')
    assert.notEqual(await verify(current, 'roost.example', root()), 'trusted')
    const other = await makeAuthority(metroDomain, nowMs)
    assert.notEqual(await verify(current, metroDomain, other.chain), 'trusted')
  })

  it('passes the strict rules of OpenSSL, and lasts no longer than browsers permit', async () => {
    const { current } = await open()
    mkdirSync(directory, { recursive: true })
    const leafFile = path.join(directory, 'leaf.pem')
    writeFileSync(leafFile, current.chain)
    const ca = authorityFile({ directory, metroDomain })
    const { stdout } = await run('openssl', [
      'verify',
      '-x509_strict',
      '-purpose',
      'sslserver',
      '-verify_hostname',
      `a.${metroDomain}`,
      '-CAfile',
      ca,
      leafFile,
    ])
    assert.match(stdout, /: OK/)
    const leaf = leafOf(current)
    const days = (leaf.validToDate.getTime() - leaf.validFromDate.getTime()) / dayMs
    assert.ok(days <= 398 && days > 390, String(days))
    assert.ok(leaf.validFromDate.getTime() < nowMs)
    const rootCertificate = new X509Certificate(root())
    assert.ok(rootCertificate.ca)
    assert.equal(rootCertificate.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1')
    assert.ok(rootCertificate.validToDate.getTime() > nowMs + 3_600 * dayMs)
  })

  it('comes from an authority that can not issue for other sites or for addresses', async () => {
    const authority = await makeAuthority(metroDomain, nowMs)
    const foreign = await issueWildcard(authority, 'bank.example', nowMs)
    assert.equal(await verify(foreign, 'www.bank.example', authority.chain), 'permitted subtree violation')
    const near = await issueWildcard(authority, `not${metroDomain}`, nowMs)
    assert.equal(await verify(near, `not${metroDomain}`, authority.chain), 'permitted subtree violation')
    const long = `${'label.'.repeat(28)}example`
    const distant = await makeAuthority(long, nowMs)
    assert.equal(await verify(await issueWildcard(distant, long, nowMs), long, distant.chain), 'trusted')
  })

  it('stays the same from start to start', async () => {
    const first = await open()
    const rootBefore = root()
    const second = await open()
    assert.deepEqual(second.current, first.current)
    assert.equal(root(), rootBefore)
    const other = await open({}, 'apps.example')
    assert.notEqual(other.current.chain, first.current.chain)
    assert.equal(root(), rootBefore)
  })

  it('is the same for several processes that start at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => open()))
    const { current } = await open()
    assert.equal(await verify(current, metroDomain, root()), 'trusted')
  })

  it('is renewed long before its end, while the gateway runs, under the same root', async () => {
    const one = await open()
    const before = one.current
    const rootBefore = root()
    nowMs += 300 * dayMs
    let looks = 0
    onLook = () => {
      looks += 1
    }
    await until('a whole look', () => looks >= 2, { limitMs: 20_000 })
    assert.deepEqual(changes, [])
    nowMs += 10 * dayMs
    const [renewed] = await until('another one', () => changes.length > 0 && changes, { limitMs: 20_000 })
    assert.deepEqual(one.current, renewed)
    assert.notEqual(one.current.chain, before.chain)
    assert.equal(root(), rootBefore)
    assert.ok(leafOf(one.current).validToDate.getTime() > nowMs + 390 * dayMs)
    assert.ok(leafOf(one.current).verify(new X509Certificate(root()).publicKey))
  })

  it('reports nothing once it is closed, not even the result of a check under way', async () => {
    const one = await open()
    const before = one.current
    let closing: Promise<void> | undefined
    onLook = () => {
      closing ??= Promise.resolve().then(async () => await one.close())
    }
    nowMs += 310 * dayMs
    await until('a look', () => closing !== undefined, { limitMs: 20_000 })
    await closing
    assert.ok(!readFileSync(file('wildcard.pem'), 'utf8').includes(before.chain))
    assert.deepEqual(changes, [])
    assert.equal(one.current, before)
  })

  it('never outlives its root, and is issued again by a new root when the root ends', async () => {
    const first = await open()
    await first.close()
    const rootBefore = root()
    nowMs += 3_560 * dayMs
    const late = await open()
    await late.close()
    assert.equal(leafOf(late.current).validTo, new X509Certificate(rootBefore).validTo)
    assert.equal(root(), rootBefore)
    nowMs += 75 * dayMs
    const anew = await open()
    assert.notEqual(root(), rootBefore)
    assert.ok(leafOf(anew.current).verify(new X509Certificate(root()).publicKey))
  })

  it('can be read, like its keys, only by its owner', async () => {
    await open()
    for (const name of ['authority.pem', 'wildcard.pem', 'authority.crt']) {
      assert.equal(statSync(file(name)).mode & 0o777, 0o600, name)
    }
    assert.equal(statSync(path.dirname(file('x'))).mode & 0o777, 0o700)
    assert.doesNotMatch(root(), /PRIVATE/)
  })

  it('names a file that somebody damaged, but shows nothing of its content', async () => {
    await open()
    const pem = readFileSync(file('authority.pem'), 'utf8')
    for (const damaged of [
      '',
      pem.slice(0, 300),
      pem.replace(/-----BEGIN PRIVATE[^]*?END PRIVATE KEY-----\n/, ''),
    ]) {
      writeFileSync(file('authority.pem'), damaged)
      await assert.rejects(open(), (error: Error) => {
        assert.ok(error instanceof UnusableCertificate)
        assert.ok(error.message.includes(file('authority.pem')))
        assert.ok(!error.message.includes('BEGIN'))
        return true
      })
    }
  })

  describe('from files of the operator', () => {
    let certFile: string
    let keyFile: string
    beforeEach(() => {
      mkdirSync(directory, { recursive: true })
      certFile = path.join(directory, 'own.crt')
      keyFile = path.join(directory, 'own.key')
    })
    async function writeOwn(domain = metroDomain): Promise<KeyPairPem> {
      const pair = await issueWildcard(await makeAuthority(domain, nowMs), domain, nowMs)
      writeFileSync(certFile, pair.chain)
      writeFileSync(keyFile, pair.key)
      return pair
    }

    it('is used as it is, and no authority is made', async () => {
      const own = await writeOwn()
      const { current } = await open({ certFile, keyFile })
      assert.deepEqual(current, own)
      assert.throws(() => root(), /ENOENT/)
      assert.deepEqual(problems, [])
    })

    it('is swapped when the files are replaced, even if they are replaced one after the other', async () => {
      const before = await writeOwn()
      const one = await open({ certFile, keyFile })
      const after = await issueWildcard(await makeAuthority(metroDomain, nowMs), metroDomain, nowMs)
      writeFileSync(certFile, after.chain)
      await until('a complaint', () => problems.length > 0, { limitMs: 20_000 })
      assert.deepEqual(one.current, before)
      writeFileSync(keyFile, after.key)
      utimesSync(keyFile, new Date(), new Date())
      await until('the other one', () => changes.length > 0, { limitMs: 20_000 })
      assert.deepEqual(one.current, after)
    })

    it('is refused if certificate and key do not belong together, or if one is missing', async () => {
      await writeOwn()
      writeFileSync(
        keyFile,
        (await issueWildcard(await makeAuthority('a.example', nowMs), 'a.example', nowMs)).key,
      )
      await assert.rejects(
        open({ certFile, keyFile }),
        /own\.crt with .*own\.key: the private key is not that/,
      )
      await assert.rejects(open({ certFile }), /ROOST_METRO_KEY_FILE/)
      await assert.rejects(open({ certFile, keyFile: `${keyFile}.not` }), /ENOENT/)
    })

    it('is used with a warning if it is for another name', async () => {
      await writeOwn('apps.example')
      await open({ certFile, keyFile })
      assert.match(problems.join('\n'), /not for \*\.roost\.localhost/)
    })
  })

  it('has a root whose name differs from those of other stacks', async () => {
    const subjects = await Promise.all(
      [1, 2].map(async () => (await makeAuthority(metroDomain, nowMs)).chain),
    )
    const [first, second] = subjects.map((pem) => new X509Certificate(pem).subject)
    assert.match(String(first), /^CN=Roost local authority [0-9a-f]{6}$/)
    assert.notEqual(first, second)
  })
})
