import { strict as assert } from 'node:assert'
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { partNamed } from '../../../src/domain/part-name.ts'
import { HostRole } from '../../../src/domain/host/role.ts'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import { JoinFailure, joinInstallation, meetInstallation } from '../../../src/trust/join-client.ts'
import { newJoinSecret } from '../../../src/trust/join-token.ts'
import type { JoinToken } from '../../../src/trust/join-token.ts'
import { publicKeyOf } from '../../../src/trust/kept-identity.ts'
import { fingerprintOf, makePartAuthority } from '../../../src/trust/part-authority.ts'
import { namesOf, serverTls } from '../../../src/trust/part-identity.ts'
import { makeKey } from '../../../src/x509/key-pair.ts'
import { identityOf } from '../../support/part-identities.ts'
import { exchange, requestText, startRemoteApi } from '../../support/remote-api.ts'
import type { RemoteApi } from '../../support/remote-api.ts'

describe('how a machine joins over the network', () => {
  let remote: RemoteApi
  before(async () => {
    remote = await startRemoteApi()
  })
  after(() => remote.close())

  const gatewayKey = makeKey()
  const join = async (token: JoinToken, publicKey = publicKeyOf(makeKey()), place = remote.place) => {
    const keys = { publicKey, rolePublicKeys: { gateway: publicKeyOf(gatewayKey) } }
    return await joinInstallation(await meetInstallation(place, token), token, keys)
  }

  it('gets a certificate for its key and the authority, and is let in with them', async () => {
    const token = await remote.invite('attic')
    const key = makeKey()
    const joined = await join(token, publicKeyOf(key))
    const { hostId, certificate, authority, temporalNamespace, ownAddress } = joined
    assert.deepEqual(
      { hostId, temporalNamespace, ownAddress },
      { hostId: 'attic', temporalNamespace: 'default', ownAddress: '127.0.0.1' },
    )
    assert.equal(authority.trim(), remote.authority.chain.trim())
    const shown = new X509Certificate(certificate)
    assert.deepEqual(partNamed(namesOf(shown)), { part: PlatformPart.Agent, id: 'attic' })
    assert.equal(shown.publicKey.export({ format: 'pem', type: 'spki' }), publicKeyOf(key))
    const answer = await exchange(await remote.connect({ key, certificate }), requestText('GET /v2/'))
    assert.match(answer, /^HTTP\/1\.1 200 /)
  })

  it('gets a certificate for each of its roles, and for no other part', async () => {
    const key = makeKey()
    const joined = await join(await remote.invite('edge', [HostRole.Gateway]), publicKeyOf(key))
    assert.deepEqual(
      joined.roleCertificates.map(([role, certificate]) => [
        role,
        partNamed(namesOf(new X509Certificate(certificate))),
      ]),
      [['gateway', { part: PlatformPart.Gateway, id: 'edge' }]],
    )
    const shown = new X509Certificate(joined.roleCertificates[0]![1])
    assert.equal(shown.publicKey.export({ format: 'pem', type: 'spki' }), publicKeyOf(gatewayKey))
    assert.deepEqual(joined.roles, ['gateway'])
    assert.deepEqual((await join(await remote.invite())).roleCertificates, [])
  })

  it('is refused with a role for which its version has no key, and keeps its invitation', async () => {
    const token = await remote.invite('later', [HostRole.Worker])
    await assert.rejects(join(token), /a role that its version of Roost does not have: install the version/)
    const met = await meetInstallation(remote.place, token)
    const keys = { publicKey: publicKeyOf(makeKey()), rolePublicKeys: { worker: publicKeyOf(makeKey()) } }
    assert.deepEqual((await joinInstallation(met, token, keys)).roles, ['worker'])
  })

  it('may ask again with its key, and no other machine may', async () => {
    const token = await remote.invite()
    const publicKey = publicKeyOf(makeKey())
    const { hostId } = await join(token, publicKey)
    assert.equal((await join(token, publicKey)).hostId, hostId)
    await assert.rejects(join(token), (error) => {
      assert.ok(error instanceof JoinFailure)
      assert.match(error.message, /^another machine has joined with this invitation: /)
      return true
    })
  })

  it('is one machine, if several come with one invitation at once', async () => {
    const token = await remote.invite()
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, async () => await join(token)))
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  it('is refused with a secret that nobody was given', async () => {
    const { fingerprint } = await remote.invite()
    await assert.rejects(join({ secret: newJoinSecret(), fingerprint }), {
      name: 'JoinFailure',
      message: 'there is no such invitation: `roost host invite` prints a new one',
    })
  })

  it('keeps its invitation if its key is of no use', async () => {
    const token = await remote.invite()
    const { publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-384',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    for (const key of [publicKey, makeKey(), 'no key', ''])
      await assert.rejects(join(token, key), { message: 'the request to join is malformed' })
    assert.match((await join(token)).hostId, /^h\d+$/)
  })

  it('sends its secret to no server of another authority', async () => {
    const token = await remote.invite()
    const otherAuthority = await makePartAuthority(Date.now())
    const api = { part: PlatformPart.Api, id: 'a' }
    const other = await identityOf(otherAuthority, api)
    // The second one shows the real authority behind a certificate that it did not issue.
    const fakes = [
      serverTls(other),
      { ...serverTls(other), cert: `${other.certificate}${remote.authority.chain}` },
    ]
    for (const tls of fakes) {
      const heard: Buffer[] = []
      let connections = 0
      const server = createServer(tls, (socket) => {
        socket.on('error', () => undefined)
        socket.on('data', (chunk: Buffer) => heard.push(chunk))
      })
      server.on('connection', () => (connections += 1))
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const place = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
      await assert.rejects(join(token, undefined, place), { name: 'JoinFailure' })
      assert.ok(connections > 0)
      assert.equal(Buffer.concat(heard).length, 0, 'nothing may be sent')
      server.close()
    }
    await assert.rejects(join({ ...token, fingerprint: randomBytes(32) }), {
      message: /belongs to another installation than the token: copy address and token /,
    })
    assert.match((await join(token)).hostId, /^h\d+$/, 'the invitation was not used')
  })

  it('sends its secret to no other part of the installation', async () => {
    const token = await remote.invite()
    const agent = await identityOf(remote.authority, { part: PlatformPart.Agent, id: 'api' })
    const heard: Buffer[] = []
    const server = createServer(serverTls(agent), (socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk: Buffer) => heard.push(chunk))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const place = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
    await assert.rejects(join(token, undefined, place), { name: 'JoinFailure' })
    assert.equal(Buffer.concat(heard).length, 0)
    server.close()
  })

  it('meets the installation without its secret, and learns what time it is there', async () => {
    const { fingerprint } = await remote.invite()
    const { timeMs, ownAddress } = await meetInstallation(remote.place, { fingerprint })
    assert.ok(Math.abs(timeMs - Date.now()) < 5_000, String(timeMs))
    assert.equal(ownAddress, '127.0.0.1')
  })

  it('says so if its clock is not one that certificates bear', async () => {
    const token = await remote.invite()
    const nextYearMs = Date.now() + 365 * 86_400_000
    const late = await makePartAuthority(nextYearMs)
    const api = { part: PlatformPart.Api, id: 'a' }
    const server = createServer(serverTls(await identityOf(late, api, { nowMs: nextYearMs })))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const place = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
    const fingerprint = fingerprintOf(late.chain)
    await assert.rejects(join({ ...token, fingerprint }, undefined, place), {
      name: 'JoinFailure',
      message: /^this machine's clock says .+Z, and the certificate of .+ is not valid then: set the clocks /,
    })
    server.close()
  })

  it('learns what is wrong if nobody listens', async () => {
    const token = await remote.invite()
    await assert.rejects(join(token, undefined, { host: '127.0.0.1', port: 1 }), {
      name: 'JoinFailure',
      message: /^127\.0\.0\.1:1 can not be reached \(.+\): check that the control plane runs, /,
    })
  })

  it('is refused if what it sends is too long or malformed, and is told so', async () => {
    const post = async (headers: readonly string[], body: string) =>
      await exchange(await remote.connect(), requestText('POST /join', { headers, body }))
    assert.match(
      await post([], JSON.stringify({ secret: 'x'.repeat(5_000) })),
      /^HTTP\/1\.1 413 [^]* at most 4096 bytes/,
    )
    const bodies = ['', '[]', 'null', '{', '"x"', '{"secret":1,"publicKey":"x"}', '{"secret":"x"}']
    const long = JSON.stringify({ secret: 'x'.repeat(201), publicKey: publicKeyOf(makeKey()) })
    for (const body of [...bodies, long])
      assert.match(await post([], body), /^HTTP\/1\.1 400 [^]* is malformed/, body)
    const get = await exchange(await remote.connect(), requestText('GET /join'))
    assert.match(get, /^HTTP\/1\.1 401 /)
  })

  it('can not be kept out by others that send nothing', async () => {
    const token = await remote.invite()
    const idle = await Promise.all(Array.from({ length: 40 }, async () => await remote.connect()))
    for (const socket of idle) socket.write('POST /join HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{')
    assert.match((await join(token)).hostId, /^h\d+$/)
    for (const socket of idle) socket.destroy()
  })

  it('leaves no secret in the log', () => {
    const { logLines } = remote.api
    assert.ok(logLines.some((line) => line.includes('a host was invited')))
    assert.ok(!logLines.some((line) => /"(token|secret)"/.test(line)))
  })
})
