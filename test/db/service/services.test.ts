import { strict as assert } from 'node:assert'
import { readQuotas } from '../../../src/db/account/quotas.ts'
import {
  deleteService,
  findServices,
  listServiceNames,
  listServices,
} from '../../../src/db/service/services.ts'
import { serviceRecords } from '../../support/service-records.ts'

describe('services in the database', () => {
  const {
    database,
    newUser,
    wanted,
    createWith,
    created,
    refusal,
    createInstance,
    instances,
    whileHeld,
    find,
    count,
    certificates,
  } = serviceRecords()

  describe('names', () => {
    it('are generated, and their domain is the name itself', async () => {
      const service = await created(await newUser(), wanted([443]))
      assert.match(service.name, /^[a-z]+-[a-z]+-[a-z0-9]{8}$/)
      assert.deepEqual(service.domains, [{ fqdn: `${service.name}.metro.test`, certificate: null }])
    })

    it('that are given make a domain with a suffix, as one label', async () => {
      const service = await created(await newUser(), { ...wanted([443]), name: 'a.b' })
      assert.match(service.domains[0]?.fqdn ?? '', /^a-b-[a-z0-9]{8}\.metro\.test$/)
    })

    it('without ports and domains make none', async () => {
      assert.deepEqual((await created(await newUser(), wanted([]))).domains, [])
    })

    it('without ports keep the domains that were given', async () => {
      const service = await created(await newUser(), wanted([], ['portless']))
      assert.deepEqual(
        service.domains.map(({ fqdn }) => fqdn),
        ['portless.metro.test'],
      )
    })

    it('are taken once per user', async () => {
      const [one, other] = [await newUser(), await newUser()]
      await created(one, { ...wanted([443]), name: 'web' })
      assert.deepEqual(await refusal(one, { ...wanted([]), name: 'web' }), {
        kind: 'service-name-taken',
        name: 'web',
      })
      await created(other, { ...wanted([443]), name: 'web' })
    })

    it('that are generated and taken are tried again, and so are derived domains', async () => {
      const user = await newUser()
      const suffixes = ['aaaaaaaa', 'aaaaaaaa', 'bbbbbbbb']
      const suffix = () => suffixes.shift() ?? 'cccccccc'
      assert.ok((await createWith(user, { ...wanted([443]), name: 'again' }, suffix)).ok)
      await deleteService(
        database(),
        user.uuid,
        (await listServices(database(), { userUuid: user.uuid }))[0]!.uuid,
      )
      await created(await newUser(), wanted([443], ['again-aaaaaaaa']))
      const outcome = await createWith(user, { ...wanted([443]), name: 'again' }, suffix)
      assert.ok(outcome.ok)
      assert.equal(outcome.service?.domains[0]?.fqdn, 'again-bbbbbbbb.metro.test')
    })
  })

  describe('domains', () => {
    it('stand in the order in which they were given', async () => {
      const service = await created(await newUser(), wanted([443], ['z-order', 'a-order', 'm-order']))
      assert.deepEqual(
        service.domains.map(({ fqdn }) => fqdn),
        ['z-order.metro.test', 'a-order.metro.test', 'm-order.metro.test'],
      )
    })

    it('in use by anybody are refused, and nothing else of the service is left', async () => {
      const [one, other] = [await newUser(), await newUser()]
      await created(one, wanted([443], ['shared']))
      for (const user of [one, other]) {
        const taken = await refusal(user, wanted([443], ['free-beside', 'www.beside.example.', 'shared']))
        assert.deepEqual(taken, { kind: 'domain-taken', fqdn: 'shared.metro.test' })
      }
      assert.deepEqual(
        [await certificates(other), await listServices(database(), { userUuid: other.uuid })],
        [[], []],
      )
      await created(other, wanted([443], ['free-beside']))
    })

    it('are free again when the service is deleted', async () => {
      const [one, other] = [await newUser(), await newUser()]
      const service = await created(one, wanted([443], ['released']))
      assert.equal(await deleteService(database(), one.uuid, service.uuid), 'deleted')
      await created(other, wanted([443], ['released']))
    })

    it('are won by one of many who ask for them at once, in whatever order they name them', async () => {
      const names = ['race-a', 'race-b', 'race-c', 'race-d']
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, async (_, index) => {
          const user = await newUser()
          const turned = [...names.slice(index % 4), ...names.slice(0, index % 4)]
          if (index % 2 === 0) return createWith(user, wanted([443], turned))
          return createInstance(user, { service: { made: wanted([443], turned.toReversed()) } })
        }),
      )
      assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
      assert.ok(outcomes.every((one) => one.ok || one.refusal.kind === 'domain-taken'))
      assert.equal(await count("domains where fqdn like 'race-%' and 'x'", 'x'), 4)
    })

    it('that two name in opposite orders do not make them wait for each other', async () => {
      const [one, other, third] = [await newUser(), await newUser(), await newUser()]
      const { uuid } = await created(third, wanted([]))
      const outcomes = await whileHeld(
        (db) =>
          db.insertInto('domains').values({ fqdn: 'm.metro.test', serviceUuid: uuid, ordinal: 0 }).execute(),
        () => [createWith(one, wanted([], ['a', 'm', 'z'])), createWith(other, wanted([], ['z', 'm', 'a']))],
        2,
      )
      assert.equal(outcomes.filter(({ ok }) => ok).length, 1)
    })
  })

  describe('quotas', () => {
    const used = async (user: { uuid: string }) => {
      const report = await readQuotas(database(), user.uuid)
      return [report?.used.serviceGroups, report?.used.services]
    }

    it('count services and published ports', async () => {
      const user = await newUser()
      assert.deepEqual(await used(user), [0, 0])
      const { uuid } = await created(user, wanted([80, 443]))
      await instances(user, { service: { made: wanted([443]) } })
      assert.deepEqual(await used(user), [2, 3])
      await deleteService(database(), user.uuid, uuid)
      assert.deepEqual(await used(user), [1, 1])
    })

    it('bind creates of both kinds', async () => {
      const user = await newUser({ serviceGroups: 1, services: 2 })
      const ports = { kind: 'quota', excess: { quota: 'services', value: 3, bound: 2 } }
      const groups = { kind: 'quota', excess: { quota: 'serviceGroups', value: 2, bound: 1 } }
      assert.deepEqual(await refusal(user, wanted([80, 443, 5432])), ports)
      const tooMany = await createInstance(user, { service: { made: wanted([80, 443, 5432]) } })
      assert.deepEqual(!tooMany.ok && tooMany.refusal, ports)
      await created(user, wanted([443]))
      assert.deepEqual(await refusal(user, wanted([])), groups)
      const second = await createInstance(user, { service: { made: wanted([]) } })
      assert.deepEqual(!second.ok && second.refusal, groups)
      await instances(user)
    })

    it('can not be exceeded by creates at once', async () => {
      const user = await newUser({ serviceGroups: 5, services: 4 })
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          index % 2 === 0
            ? createWith(user, wanted([443]))
            : createInstance(user, { service: { made: wanted([443]) } }),
        ),
      )
      assert.equal(outcomes.filter(({ ok }) => ok).length, 4)
      assert.deepEqual(await used(user), [4, 4])
    })
  })

  it('are found by name and UUID, in order, and only by their user', async () => {
    const [user, other] = [await newUser(), await newUser()]
    const a = await created(user, { ...wanted([443]), name: 'a' })
    const b = await created(user, { ...wanted([443]), name: 'b' })
    const identifiers = [{ name: 'b' }, { uuid: 'nonsense' }, { uuid: a.uuid.toUpperCase() }, { name: 'c' }]
    assert.deepEqual(await findServices(database(), { userUuid: user.uuid }, identifiers), [
      b,
      undefined,
      a,
      undefined,
    ])
    assert.deepEqual(
      await findServices(database(), { userUuid: other.uuid }, identifiers),
      identifiers.map(() => undefined),
    )
    assert.deepEqual(await listServices(database(), { userUuid: user.uuid }, { count: 1, from: 1 }), [b])
    assert.deepEqual(await listServices(database(), { userUuid: user.uuid }, { afterPosition: a.position }), [
      b,
    ])
    assert.deepEqual(await listServices(database(), { userUuid: other.uuid }), [])
  })

  it('are listed by filters, of which all of one and any of several have to match', async () => {
    const user = await newUser()
    const kept = await created(user, { ...wanted([443], ['kept-here']), name: 'kept' })
    const [row] = await instances(user, { service: { made: wanted([443], ['implicit-here']) } })
    const implicit = (await find(user, row?.serviceUuid))!
    const names = async (...filters: Parameters<typeof listServiceNames>[2]['filters']) =>
      (await listServiceNames(database(), { userUuid: user.uuid }, { filters })).map(({ name }) => name)
    const domain = { fqdn: 'kept-here.metro.test' }
    assert.deepEqual(await names(), [kept.name, implicit.name])
    assert.deepEqual(await names({}), [kept.name, implicit.name])
    assert.deepEqual(await names({ persistent: true }), [kept.name])
    assert.deepEqual(await names({ persistent: false }), [implicit.name])
    assert.deepEqual(await names(domain), [kept.name])
    assert.deepEqual(await names({ ...domain, persistent: false }), [])
    assert.deepEqual(await names(domain, { persistent: false }), [kept.name, implicit.name])
    assert.deepEqual(await names({ fqdn: 'metro.test' }), [])
  })
})
