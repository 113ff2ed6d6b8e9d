import { strict as assert } from 'node:assert'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestCertificate } from '../../support/certificate-maker.ts'
import { sendAsGoSdk } from '../../support/go-sdk.ts'
import { assertShows } from '../../support/shown-fields.ts'

/** The requests about certificates that existing clients send, and what they need in the answers. */
describe('an existing client, about certificates', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
  })
  after(() => api.close())
  beforeEach(async () => {
    user = await api.addUser()
  })

  const goSdk = async (method: string, path: string, body?: unknown) => {
    const call = { method, path, ...(body === undefined ? {} : { body }) }
    return (await sendAsGoSdk(api, user, call)).json.data
  }
  const made = async (names: readonly string[]) => {
    const { pem: chain, pkey } = await makeTestCertificate({ subject: `CN=${names[0]}`, names })
    return { chain, pkey }
  }

  /** These are the requests of `cert create`, `list`, `get` and `remove`. */
  it('leads a certificate through its life as the command line does', async () => {
    const body = { cn: '*.life.example.', ...(await made(['*.life.example'])) }
    const [{ uuid, name }] = (await goSdk('POST', '/v1/certificates', body)).certificates
    assert.match(name, /^life\.example-[a-z0-9]{5}$/)
    const [seen] = (await goSdk('GET', '/v1/certificates', [{ uuid }])).certificates
    assertShows(seen, {
      status: 'success',
      uuid,
      name,
      state: 'valid',
      common_name: '*.life.example',
      service_groups: [],
    })
    for (const moment of ['created_at', 'not_before', 'not_after']) {
      assert.match(seen[moment], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }
    const all = (await goSdk('GET', '/v1/certificates')).certificates
    assert.deepEqual(
      all.map((one: { uuid: string }) => one.uuid),
      [uuid],
    )
    const [gone] = (await goSdk('DELETE', '/v1/certificates', [{ name }])).certificates
    assert.deepEqual(gone, { status: 'success', uuid, name })
    assert.deepEqual((await goSdk('GET', '/v1/certificates')).certificates, [])
  })

  it('names a certificate of a domain with both keys, one of them empty', async () => {
    const body = { name: 'c1', cn: 'app.both.example', ...(await made(['app.both.example'])) }
    const [{ uuid }] = (await goSdk('POST', '/v1/certificates', body)).certificates
    const [instance] = (
      await goSdk('POST', '/v1/instances', {
        image: 'hello:latest',
        args: [''],
        service_group: {
          services: [{ port: 443, destination_port: 8080, handlers: ['http', 'tls'] }],
          domains: [{ name: 'app.both.example.', certificate: { uuid: '', name: 'c1' } }],
        },
      })
    ).instances
    assert.deepEqual(instance.service_group.domains, [
      { fqdn: 'app.both.example', certificate: { uuid, name: 'c1', state: 'valid' } },
    ])
    const domains = [{ name: 'app.both.example..', certificate: { uuid, name: '' } }]
    const [taken] = (await goSdk('POST', '/v1/services', { domains })).service_groups
    assert.equal(taken.error, 23)
  })

  /**
   * End-to-end tests of existing clients rely on this: the certificate that was requested for an
   * instance is still there after the instance is deleted, and can then be removed.
   */
  it('removes the certificate that a deployment left behind', async () => {
    const [instance] = (
      await goSdk('POST', '/v1/instances', {
        image: 'hello:latest',
        args: [''],
        autostart: true,
        service_group: {
          services: [{ port: 443, destination_port: 8080, handlers: ['http', 'tls'] }],
          domains: [{ name: 'left.example.' }],
        },
      })
    ).instances
    const { certificate } = instance.service_group.domains[0]
    assert.match(certificate.name, /^left\.example-[a-z0-9]{5}$/)
    const identifier = [{ name: certificate.name }]
    const [pending] = (await goSdk('GET', '/v1/certificates', identifier)).certificates
    assert.deepEqual([pending.state, pending.validation.attempt], ['pending', 0])
    const [refused] = (await goSdk('DELETE', '/v1/certificates', identifier)).certificates
    assert.equal(refused.error, 15)
    await goSdk('DELETE', '/v1/instances', [{ uuid: instance.uuid }])
    const [removed] = (await goSdk('DELETE', '/v1/certificates', identifier)).certificates
    assert.deepEqual(removed, { status: 'success', uuid: certificate.uuid, name: certificate.name })
  })
})
