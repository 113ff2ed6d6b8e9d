import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { EventEmitter } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PlatformPart } from '../../../src/domain/platform-part.ts'
import { keepIdentity, KeptIdentity, keptKey, readIdentity } from '../../../src/trust/kept-identity.ts'
import { makePartAuthority, partCertificateMs } from '../../../src/trust/part-authority.ts'
import type { PartIdentity } from '../../../src/trust/part-identity.ts'
import { backDatedMs } from '../../../src/x509/authority.ts'
import type { KeyPairPem } from '../../../src/x509/key-pair.ts'
import { identityOf } from '../../support/part-identities.ts'

const name = { part: PlatformPart.Agent, id: 'h2' }
const minuteMs = 60_000
/** The age at which a certificate is renewed: a third of its life, which began before it was issued. */
const renewedAtMs = (partCertificateMs + backDatedMs) / 3 - backDatedMs

describe('the identity that a part keeps', () => {
  let directory: string
  let authority: KeyPairPem
  let key: string
  before(async () => {
    authority = await makePartAuthority(Date.now())
  })
  beforeEach(async () => {
    directory = path.join(await mkdtemp(path.join(tmpdir(), 'roost-identity-')), 'identity')
    key = await keptKey(directory)
  })
  afterEach(() => rm(path.dirname(directory), { recursive: true }))

  const issued = async (agoMs: number): Promise<PartIdentity> =>
    await identityOf(authority, name, { nowMs: Date.now() - agoMs, key })

  /** Has an identity that was issued so long ago kept valid. Tells what came of it. */
  async function kept(agoMs: number, next: () => Promise<string>) {
    const first = await issued(agoMs)
    await keepIdentity(directory, first)
    const identity = new KeptIdentity(directory, first)
    const outcome = new EventEmitter()
    identity.onChange((changed) => outcome.emit('change', changed))
    let asked = 0
    void identity.keepValid(
      async () => {
        asked += 1
        return await next()
      },
      (problem) => outcome.emit('problem', problem),
    )
    return { first, identity, outcome, asked: () => asked }
  }

  it('is readable for its owner alone, and complete or not there', async () => {
    assert.equal(await readIdentity(directory), undefined)
    const identity = await issued(0)
    await keepIdentity(directory, identity)
    assert.deepEqual(await readIdentity(directory), identity)
    assert.equal((await stat(directory)).mode & 0o777, 0o700)
    const names = await readdir(directory)
    assert.deepEqual(names.toSorted(), ['authority.crt', 'part.crt', 'part.key'])
    for (const file of names) assert.equal((await stat(path.join(directory, file))).mode & 0o777, 0o600, file)
    for (const file of names) {
      await rm(path.join(directory, file))
      assert.equal(await readIdentity(directory), undefined, `without ${file}`)
      await keepIdentity(directory, identity)
      if (file === 'part.key') break
    }
  })

  it('has one key for ever', async () => {
    assert.equal(await keptKey(directory), key)
  })

  it('is renewed before the part begins if its certificate is over', async () => {
    const old = await issued(8 * 86_400_000)
    await keepIdentity(directory, old)
    const identity = new KeptIdentity(directory, old)
    const next = (await issued(0)).certificate
    await identity.keepValid(
      async () => await Promise.resolve(next),
      (error) => assert.fail(String(error)),
    )
    assert.equal(identity.current.certificate, next)
    identity.stop()
  })

  it('is not renewed in the first third of its life', async () => {
    const { first, identity, asked } = await kept(
      renewedAtMs - minuteMs,
      async () => await Promise.reject(new Error()),
    )
    identity.stop()
    assert.equal(asked(), 0)
    assert.equal(identity.current, first)
  })

  it('is renewed after a third of its life, and the new one is kept', async () => {
    const next = await issued(0)
    const { first, identity, outcome } = await kept(renewedAtMs + minuteMs, async () => next.certificate)
    const [changed] = await once(outcome, 'change')
    identity.stop()
    assert.deepEqual(changed, { ...first, certificate: next.certificate })
    assert.deepEqual(identity.current, changed)
    assert.deepEqual(await readIdentity(directory), changed)
  })

  it('stays as it is if there is no new one, or it is for another key or unreadable', async () => {
    const foreign = await identityOf(authority, name)
    for (const [next, why] of [
      [async () => foreign.certificate, /for another key/],
      [async () => 'no certificate', /PEM/i],
      [async () => await Promise.reject(new Error('the API is away')), /the API is away/],
    ] as const) {
      const { first, identity, outcome } = await kept(renewedAtMs + minuteMs, next)
      const [problem] = await once(outcome, 'problem')
      identity.stop()
      assert.match((problem as Error).message, why)
      assert.equal(identity.current, first)
      assert.deepEqual(await readIdentity(directory), first)
    }
  })
})
