import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import { lockUser } from '../../../src/db/account/user-lock.ts'
import { maxCertificatesPerUser } from '../../../src/db/certificate/name.ts'
import { deleteCertificate } from '../../../src/db/certificate/delete.ts'
import {
  findCertificates,
  listCertificateNames,
  listCertificates,
} from '../../../src/db/certificate/certificates.ts'
import { deleteService } from '../../../src/db/service/services.ts'
import { uploadCertificate } from '../../../src/db/certificate/upload.ts'
import type { NewCertificate } from '../../../src/db/certificate/upload.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'
import { testSecretBox } from '../../support/accounts.ts'
import { serviceRecords } from '../../support/service-records.ts'

const facts = {
  subject: 'CN=x',
  issuer: 'CN=y',
  serialNumber: '0A',
  notBefore: new Date('2026-01-01T00:00:00Z'),
  notAfter: new Date('2100-01-01T00:00:00Z'),
}

describe('uploaded certificates in the database', () => {
  const { database, newUser, wanted, created, createWith, certificates, whileHeld } = serviceRecords()

  const upload = (
    user: { readonly uuid: string },
    more: Partial<NewCertificate> = {},
    randomSuffix?: (length: number) => string,
  ) =>
    uploadCertificate(
      { database: database(), secretBox: testSecretBox, ...(randomSuffix && { randomSuffix }) },
      {
        userUuid: user.uuid,
        commonName: 'www.up.example',
        chain: 'the chain',
        keyPem: 'the key',
        facts,
        ...more,
      },
    )
  const uploaded = async (...args: Parameters<typeof upload>) => {
    const outcome = await upload(...args)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.certificate
  }

  it('are read without the chain and the key, also in its sealed form', async () => {
    const user = await newUser()
    const { uuid } = await uploaded(user, { name: 'mine' })
    const [found] = await findCertificates(database(), user.uuid, [{ uuid }])
    assert.ok(found)
    const { position: _, createdAt: __, ...rest } = found
    assert.deepEqual(rest, {
      uuid,
      userUuid: user.uuid,
      name: 'mine',
      origin: 'uploaded',
      commonName: 'www.up.example',
      ...facts,
      state: 'valid',
      revision: 0,
      attempt: 0,
      nextAt: null,
      failure: null,
      services: [],
    })
    assert.deepEqual(await listCertificates(database(), user.uuid), [found])
  })

  it('count towards what an account can have, as requested ones do', async () => {
    const user = await newUser()
    const rows = Array.from({ length: maxCertificatesPerUser - 1 }, (_, index) => ({
      uuid: randomUUID(),
      userUuid: user.uuid,
      name: `c${index}`,
      commonName: `c${index}.example`,
      state: CertificateState.Pending,
    }))
    await database().db.insertInto('certificates').values(rows).execute()
    await uploaded(user, { name: 'last' })
    assert.deepEqual(await upload(user), {
      ok: false,
      refusal: { kind: 'too-many-certificates', limit: maxCertificatesPerUser },
    })
  })

  it('get another generated name where one is taken, and never one that is given', async () => {
    const user = await newUser()
    const suffixes = ['aaaaa', 'aaaaa', 'bbbbb']
    const suffix = () => suffixes.shift()!
    assert.equal((await uploaded(user, {}, suffix)).name, 'www.up.example-aaaaa')
    assert.equal((await uploaded(user, {}, suffix)).name, 'www.up.example-bbbbb')
    const refused = await upload(user, { name: 'www.up.example-aaaaa' })
    assert.deepEqual(refused, {
      ok: false,
      refusal: { kind: 'certificate-name-taken', name: 'www.up.example-aaaaa' },
    })
  })

  it('of one name are written once, however many calls run at once', async () => {
    const user = await newUser()
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => upload(user, { name: 'same' })))
    assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    assert.equal((await certificates(user)).length, 1)
  })

  it('are not taken by new domains once they have expired', async () => {
    const user = await newUser()
    const notAfter = new Date(Date.now() - 1_000)
    await uploaded(user, { name: 'old', facts: { ...facts, notAfter } })
    const service = await created(user, wanted([443], ['www.up.example.']))
    assert.match(service.domains[0]?.certificate?.name ?? '', /^www\.up\.example-/)
    await deleteService(database(), user.uuid, service.uuid)
    await uploaded(user, { name: 'new' })
    const again = await created(user, wanted([443], ['www.up.example.']))
    assert.equal(again.domains[0]?.certificate?.name, 'new')
    await deleteService(database(), user.uuid, again.uuid)
  })

  it('are deleted or taken by a domain, not both, whichever comes first', async () => {
    const user = await newUser()
    for (const first of ['delete', 'create'] as const) {
      const { uuid, name } = await uploaded(user)
      const domain = wanted([443], [`www.up.example.`])
      const remove = () => deleteCertificate(database(), user.uuid, uuid)
      const create = () => createWith(user, domain)
      const [removal, creation] = (await whileHeld(
        (db) => lockUser(db, user.uuid),
        (blocked) => {
          const before = first === 'delete' ? remove() : create()
          const after = blocked(1).then(() => (first === 'delete' ? create() : remove()))
          return (first === 'delete' ? [before, after] : [after, before]) as never
        },
        2,
      )) as [Awaited<ReturnType<typeof remove>>, Awaited<ReturnType<typeof create>>]
      assert.ok(creation.ok && creation.service)
      const { certificate } = creation.service.domains[0]!
      if (first === 'delete') {
        assert.deepEqual(removal, { ok: true })
        assert.notEqual(certificate!.uuid, uuid)
      } else {
        const used = { name, service: creation.service.name, fqdn: 'www.up.example' }
        assert.deepEqual(removal, { ok: false, refusal: { kind: 'certificate-attached', ...used } })
        assert.equal(certificate!.uuid, uuid)
      }
      await deleteService(database(), user.uuid, creation.uuid)
      await deleteCertificate(database(), user.uuid, certificate!.uuid)
    }
  })

  it('are found by one of two deletes at once', async () => {
    const user = await newUser()
    const { uuid } = await uploaded(user)
    const outcomes = await Promise.all([1, 2].map(() => deleteCertificate(database(), user.uuid, uuid)))
    assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
  })

  it("are seen and deleted by their owner alone, and pages are the owner's", async () => {
    const [ann, bob] = [await newUser(), await newUser()]
    const names = ['a', 'b', 'c']
    for (const name of names) {
      await uploaded(ann, { name })
      await uploaded(bob, { name, commonName: 'other.example' })
    }
    const [a] = await findCertificates(database(), ann.uuid, [{ name: 'a' }])
    assert.deepEqual(await findCertificates(database(), bob.uuid, [{ uuid: a!.uuid }, { uuid: 'no uuid' }]), [
      undefined,
      undefined,
    ])
    assert.deepEqual(await deleteCertificate(database(), bob.uuid, a!.uuid), {
      ok: false,
      refusal: { kind: 'certificate-not-found', by: 'uuid', value: a!.uuid },
    })
    const shown = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name)
    const after = { count: 1, afterPosition: a!.position }
    assert.deepEqual(shown(await listCertificates(database(), ann.uuid)), names)
    assert.deepEqual(shown(await listCertificates(database(), ann.uuid, after)), ['b'])
    assert.deepEqual(shown(await listCertificates(database(), ann.uuid, { from: 2 })), ['c'])
    const list = (commonName: string) =>
      listCertificateNames(database(), ann.uuid, { ...after, filters: [{ commonName }] })
    assert.deepEqual(shown(await list('www.up.example')), ['b'])
    assert.deepEqual(await list('other.example'), [])
  })
})
