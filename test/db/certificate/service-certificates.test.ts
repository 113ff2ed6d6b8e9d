import { strict as assert } from 'node:assert'
import { randomUUID } from 'node:crypto'
import type { WantedDomain } from '../../../src/db/service/new-service.ts'
import { maxCertificatesPerUser } from '../../../src/db/certificate/name.ts'
import { deleteService } from '../../../src/db/service/services.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'
import { serviceRecords } from '../../support/service-records.ts'

describe('certificates of services', () => {
  const { database, newUser, wanted, domainOf, created, refusal, certificates, addCertificate } =
    serviceRecords()

  it('are requested for custom domains, and stay when the service is gone', async () => {
    const user = await newUser()
    const service = await created(user, wanted([443], ['www.stay.example.', 'stay']))
    const [certificate] = await certificates(user)
    assert.match(certificate?.name ?? '', /^www\.stay\.example-[a-z0-9]{5}$/)
    assert.partialDeepStrictEqual(certificate, { commonName: 'www.stay.example', state: 'pending' })
    const { uuid, name } = certificate!
    assert.deepEqual(service.domains, [
      { fqdn: 'www.stay.example', certificate: { uuid, name, state: 'pending' } },
      { fqdn: 'stay.metro.test', certificate: null },
    ])
    await deleteService(database(), user.uuid, service.uuid)
    assert.equal((await certificates(user)).length, 1)
    const again = await created(user, wanted([443], ['www.stay.example.']))
    assert.equal(again.domains[0]?.certificate?.uuid, uuid)
  })

  it('of the user are taken where they fit: valid before pending, the name before the wildcard', async () => {
    const user = await newUser()
    const other = await newUser()
    await addCertificate(other, 'theirs', 'www.fit.example')
    await addCertificate(user, 'failed', 'www.fit.example', 'error')
    await addCertificate(user, 'pending', 'www.fit.example', 'pending')
    const chosen: (string | undefined)[] = []
    const choose = async () => {
      const service = await created(user, wanted([443], ['www.fit.example.']))
      chosen.push(service.domains[0]?.certificate?.name)
      await deleteService(database(), user.uuid, service.uuid)
    }
    await choose()
    await addCertificate(user, 'wild', '*.fit.example')
    await choose()
    await addCertificate(user, 'exact', 'www.fit.example')
    await choose()
    assert.deepEqual(chosen, ['pending', 'wild', 'exact'])
  })

  it('that failed, and those of other users, fit no domain', async () => {
    const [user, other] = [await newUser(), await newUser()]
    await addCertificate(user, 'failed', 'www.new.example', 'error')
    await addCertificate(other, 'theirs', 'www.new.example')
    const service = await created(user, wanted([443], ['www.new.example.']))
    assert.match(service.domains[0]?.certificate?.name ?? '', /^www\.new\.example-/)
  })

  it('that are given are taken by UUID and by name, and have to match', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const uuid = await addCertificate(user, 'mine', '*.given.example')
    const domain = (text: string, certificate: WantedDomain['certificate']) => ({
      ...domainOf(text),
      ...(certificate && { certificate }),
    })
    const service = await created(
      user,
      wanted([443], [domain('a.given.example.', { uuid }), domain('b.given.example.', { name: 'mine' })]),
    )
    assert.deepEqual(
      service.domains.map(({ certificate }) => certificate?.uuid),
      [uuid, uuid],
    )
    assert.deepEqual(await refusal(user, wanted([443], [domain('given.example.', { uuid })])), {
      kind: 'certificate-mismatch',
      commonName: '*.given.example',
      fqdn: 'given.example',
    })
    for (const identifier of [{ uuid }, { name: 'mine' }]) {
      const [[by, value]] = Object.entries(identifier) as [[string, string]]
      assert.deepEqual(await refusal(other, wanted([443], [domain('c.given.example.', identifier)])), {
        kind: 'certificate-not-found',
        by,
        value,
      })
    }
  })

  it('are not requested without end', async () => {
    const user = await newUser()
    const rows = Array.from({ length: maxCertificatesPerUser }, (_, index) => ({
      uuid: randomUUID(),
      userUuid: user.uuid,
      name: `c${index}`,
      commonName: `c${index}.example`,
      state: CertificateState.Pending,
    }))
    await database().db.insertInto('certificates').values(rows).execute()
    const refused = { kind: 'too-many-certificates', limit: maxCertificatesPerUser }
    assert.deepEqual(await refusal(user, wanted([443], ['one-more.example.'])), refused)
    assert.equal((await created(user, wanted([443], ['c7.example.']))).domains[0]?.certificate?.name, 'c7')
  })

  it('of wildcards are never requested', async () => {
    const user = await newUser()
    const wildcard = wanted([443], ['*.wild.example.'])
    assert.deepEqual(await refusal(user, wildcard), {
      kind: 'wildcard-without-certificate',
      fqdn: '*.wild.example',
    })
    await addCertificate(user, 'wild', '*.wild.example')
    assert.equal((await created(user, wildcard)).domains[0]?.certificate?.name, 'wild')
  })
})
