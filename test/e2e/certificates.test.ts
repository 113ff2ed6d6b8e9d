import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { FailedEntry } from '../../src/contract/envelope.ts'
import { startBrowser } from '../support/browser.ts'
import {
  bring,
  certificateView,
  createService,
  serviceBody,
  shownFor,
  untilShown,
  untilState,
} from '../support/certificates.ts'
import type { Brought, WantedDomain } from '../support/certificates.ts'
import { PrivateKeyTraces, holdsNoKeys, routesFile } from '../support/private-key-traces.ts'
import { roost } from '../support/roost-command.ts'
import { sharedStack } from '../support/shared-stack.ts'
import type { Stack } from '../support/stack.ts'
import { openStackInside } from '../support/stack-inside.ts'

const run = promisify(execFile)
const address = '127.0.0.1'
/** The longest time from the create to the certificate. On a quiet machine it takes a third of a second. */
const issuedLimitMs = 10_000

describe('certificates', function () {
  let stack: Stack
  const traces = new PrivateKeyTraces()
  /** All answers of the API in these tests. */
  const said: string[] = []
  const services: string[] = []

  before(async function () {
    if (process.getuid?.() !== 0) return this.skip()
    stack = await sharedStack()
  })
  afterEach(async () => {
    said.push(JSON.stringify(await stack.api.attempt('getCertificates')))
    for (const uuid of services.splice(0)) await stack.api.attempt('deleteServices', { object: uuid })
  })

  const service = async (name: string, ...domains: readonly WantedDomain[]) => {
    const made = await createService(stack.api, name, domains)
    services.push(made.uuid)
    return made
  }
  const attempt = (domain: WantedDomain) =>
    stack.api.attempt('createServices', { body: serviceBody('refused', [domain]) })
  const uploading = (body: object) => stack.api.attempt('createCertificates', { body })
  const upload = async (cn: string, { chain, key }: Brought, name?: string): Promise<string> => {
    traces.add(cn, key)
    const answer = await uploading({ cn, chain, pkey: key, ...(name !== undefined && { name }) })
    said.push(JSON.stringify(answer))
    const [made] = answer.entries
    assert(made?.status === 'success', JSON.stringify(answer))
    return made.uuid
  }
  const refusal = async (
    asked: Promise<{
      readonly errors: readonly { readonly message: string }[]
      readonly entries: readonly unknown[]
    }>,
  ) => {
    const answer = await asked
    said.push(JSON.stringify(answer))
    const [entry] = answer.entries as readonly FailedEntry[]
    const message = answer.errors[0]?.message ?? entry?.message
    assert(message !== undefined, `expected a refusal: ${JSON.stringify(answer)}`)
    return message
  }
  const shows = (host: string, { serial, root }: Brought) => untilShown(host, { address, ca: root }, serial)

  const localRoot = async () => (await roost(stack, 'ca', '--custom-domains')).stdout

  it("of one's own names come from the local authority in seconds, and a client that trusts it sees the page", async () => {
    const startedMs = performance.now()
    const made = await stack.api.one('createInstances', {
      body: {
        name: 'custom-page',
        image: 'counter',
        autostart: true,
        service_group: {
          services: [{ port: 443, destination_port: 8_080 }],
          domains: [{ name: 'page.example.test.' }],
        },
      },
    })
    try {
      const { certificate } = made.service_group?.domains[0] ?? {}
      assert.match(certificate?.name ?? '', /^page\.example\.test-[a-z0-9]{5}$/)
      const view = await untilState(stack.api, certificate?.uuid ?? '', 'valid')
      assert(performance.now() - startedMs < issuedLimitMs)
      const root = await localRoot()
      await untilShown('page.example.test', { address, ca: root }, view.serial_number)
      const page = await openTrusting(root, 'https://page.example.test/')
      assert.match(page.text, /Asked\s+1\s+times since its memory began/)
      assert.equal(page.isSecure, true)
      assert.match(view.issuer ?? '', /Roost authority for custom domains/)
    } finally {
      await stack.api.one('deleteInstances', { object: made.uuid })
    }
  })

  it('outlive the service that they were requested for, and can not be deleted before it', async () => {
    const { uuid, domains } = await service('kept', 'kept.example.test')
    const certificate = domains[0]?.certificate?.uuid ?? ''
    await untilState(stack.api, certificate, 'valid')
    const whileUsed = await refusal(stack.api.attempt('deleteCertificates', { object: certificate }))
    assert.match(whileUsed, /kept/)
    await stack.api.one('deleteServices', { object: uuid })
    const left = await certificateView(stack.api, certificate)
    assert.deepEqual([left.state, left.service_groups], ['valid', []])

    const again = await service('kept-again', 'kept.example.test')
    assert.equal(again.domains[0]?.certificate?.uuid, certificate)
    await untilShown('kept.example.test', { address, ca: await localRoot() }, left.serial_number)
    await stack.api.one('deleteServices', { object: again.uuid })
    await stack.api.one('deleteCertificates', { object: certificate })
    assert.match(
      await refusal(stack.api.attempt('getCertificates', { object: certificate })),
      /No certificate/,
    )
  })

  it('that people bring are served, RSA and EC, and are replaced when their service is made again', async () => {
    const [old, next] = [await bring('rsa', ['own.example.test']), await bring('ec', ['own.example.test'])]
    const oldUuid = await upload('own.example.test', old, 'own-old')
    const first = await service('own', 'own.example.test')
    assert.equal(first.domains[0]?.certificate?.uuid, oldUuid)
    assert.equal(first.domains[0]?.certificate?.state, 'valid')
    await shows('own.example.test', old)
    const view = await certificateView(stack.api, oldUuid)
    assert.equal(view.subject, 'CN=own.example.test')
    assert.match(view.issuer ?? '', /CN=Test Authority/)
    assert.equal(view.serial_number, old.serial)
    assert.deepEqual(view.service_groups, [{ uuid: first.uuid, name: 'own' }])

    const nextUuid = await upload('own.example.test', next, 'own-next')
    await shows('own.example.test', old)
    await stack.api.one('deleteServices', { object: first.uuid })
    await service('own', { fqdn: 'own.example.test', certificate: 'own-next' })
    await shows('own.example.test', next)
    await stack.api.one('deleteCertificates', { object: oldUuid })
    assert.match(await refusal(stack.api.attempt('deleteCertificates', { object: nextUuid })), /own/)
  })

  it('that `openssl req -x509` makes are served, and a client that trusts one sees the page', async () => {
    const name = 'self.example.test'
    const made = await selfSigned(name)
    assert.ok(new X509Certificate(made.chain).ca)
    await upload(name, made)
    await service('self', name)
    assert.deepEqual((await shows(name, made)).chain, [`CN=${name}`])
    const { status, isTrusted } = await curl(name, made.chain)
    assert.deepEqual([status, isTrusted], ['404', true])
    assert.equal((await curl(name, await localRoot())).isTrusted, false)
    assert.equal((await openTrusting(made.chain, `https://${name}/`)).isSecure, true)
  })

  it('for wildcards are brought, and serve every name of one label', async () => {
    assert.match(await refusal(attempt('*.wild.example.test')), /wildcard/i)
    const brought = await bring('ec', ['*.wild.example.test', 'other.example.test'])
    const uuid = await upload('*.wild.example.test', brought)
    assert.match((await certificateView(stack.api, uuid)).name, /^wild\.example\.test-[a-z0-9]{5}$/)
    const made = await service('wild', '*.wild.example.test', 'named.wild.example.test')
    assert.deepEqual(
      made.domains.map(({ certificate }) => certificate?.uuid),
      [uuid, uuid],
    )
    await shows('anything.wild.example.test', brought)
    await shows('named.wild.example.test', brought)
    const deeper = await shownFor('two.labels.wild.example.test', { address, ca: brought.root })
    assert.equal(deeper?.isTrusted, false)
  })

  it('that do not fit are refused, in words that hold nothing of a key', async () => {
    const [one, other] = [await bring('rsa', ['fits.example.test']), await bring('ec', ['fits.example.test'])]
    for (const { key } of [one, other]) traces.add('refused', key)
    const cn = 'fits.example.test'
    const refusals: readonly (readonly [object, RegExp])[] = [
      [{ cn, chain: one.chain, pkey: other.key }, /not the key of/],
      [{ cn: 'elsewhere.example.test', chain: one.chain, pkey: one.key }, /fits\.example\.test/],
      [{ cn, chain: one.chain + one.key, pkey: one.key }, /belongs in 'pkey'/],
      [{ cn, chain: one.chain, pkey: one.key.slice(0, 300) }, /cut off/],
      [{ cn, chain: one.chain, pkey: one.key.replaceAll('A', 'B') }, /pkey/],
      [{ cn, chain: one.chain, pkey: one.key, password: one.key.slice(400, 700) }, /password/],
    ]
    for (const [body, expected] of refusals) assert.match(await refusal(uploading(body)), expected)
    await upload(cn, one, 'fits')
    const misfit = { fqdn: 'misfit.example.test', certificate: 'fits' }
    assert.match(await refusal(attempt(misfit)), /misfit\.example\.test/)
  })

  it('show their keys nowhere: no answer, log, history or process has them, and files only sealed', async () => {
    const inside = await openStackInside(stack)
    try {
      const keys = await inside.privateKeys()
      keys.forEach((key, index) => traces.add(`certificate ${index}`, key))
      const histories = await inside.histories()
      assert(histories.bytes.includes('page.example.test'), 'the histories are not those of the tests')
      assert(traces.in('itself', keys.join('')).length >= keys.length)
      assert.deepEqual(
        [
          ...traces.in('answers', said.join('\n')),
          ...traces.in('output', stack.output()),
          ...traces.in('histories', histories.bytes),
          ...traces.inProcesses(),
          ...traces.inFiles(stack.dataDir, holdsNoKeys),
        ],
        [],
      )
      // The gateway serves from this file while the API is away.
      assert.equal(statSync(path.join(stack.dataDir, routesFile)).mode & 0o077, 0)
    } finally {
      await inside.close()
    }
  })
})

/** Makes a certificate with the command that manuals show. */
async function selfSigned(name: string): Promise<Brought> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-self-signed-'))
  try {
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`]
    const into = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'chain.pem']
    await run('openssl', ['req', '-x509', '-days', '30', ...into, ...subject], { cwd: directory })
    const [chain, key] = ['chain.pem', 'key.pem'].map((file) =>
      readFileSync(path.join(directory, file), 'utf8'),
    )
    return { chain: chain!, key: key!, root: chain!, serial: new X509Certificate(chain!).serialNumber }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Returns what `curl` gets when it trusts only `root`. */
async function curl(name: string, root: string): Promise<{ status: string; isTrusted: boolean }> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-curl-'))
  try {
    const file = path.join(directory, 'root.pem')
    writeFileSync(file, root)
    const trusting = ['--cacert', file, '--resolve', `${name}:443:${address}`]
    const shown = ['-s', '-o', '/dev/null', '-w', '%{http_code} %{ssl_verify_result}']
    const { stdout } = await run('curl', [...trusting, ...shown, `https://${name}/`]).catch(
      (error: { readonly stdout: string }) => error,
    )
    const [status = '', verified] = stdout.split(' ')
    return { status, isTrusted: verified === '0' }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Returns what a browser shows that trusts only `root`. */
async function openTrusting(
  root: string,
  url: string,
): Promise<{ readonly text: string; readonly isSecure: boolean }> {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-root-'))
  try {
    const file = path.join(directory, 'root.crt')
    writeFileSync(file, root)
    const browser = await startBrowser(file, { names: { pattern: '*.example.test', address } })
    try {
      const page = await browser.open(url)
      return { text: await page.text(), isSecure: await page.evaluate('isSecureContext') }
    } finally {
      await browser.close()
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
