import assert from 'node:assert/strict'
import { servicesHereAlone, sharedSettings } from '../../../src/settings/control-settings.ts'

describe('what an API on another machine has in common with the first one', () => {
  it('are the settings of the installation, and none of the machine', () => {
    const env = {
      DATABASE_URL: 'postgres://roost@db.example.test/roost',
      TEMPORAL_TLS: '',
      ROOST_METRO_DOMAIN: 'example.test',
      ROOST_ACME_EAB_KID: 'kid',
      ROOST_DATA_DIR: '/data',
      ROOST_HOST_LOSS_S: 'off',
      ROOST_API_PORT: '7070',
      ROOST_HOSTS_ADDRESS: '192.0.2.1',
      ROOST_GATEWAY_HOST: '::',
      HOME: '/root',
    }
    assert.deepEqual(sharedSettings(env), {
      DATABASE_URL: 'postgres://roost@db.example.test/roost',
      ROOST_METRO_DOMAIN: 'example.test',
      ROOST_HOST_LOSS_S: 'off',
      ROOST_ACME_EAB_KID: 'kid',
    })
  })

  it('are no services that the first machine alone reaches', () => {
    const own = {
      databaseUrl: 'postgres://roost@db.example.test/roost',
      temporalAddress: 'temporal.example.test:7233',
      registryUrl: 'http://192.0.2.9:5000',
    }
    assert.deepEqual(servicesHereAlone(own), [])
    for (const databaseUrl of [
      'postgres://roost@127.0.0.1:20001/roost',
      'postgres:///roost?host=/run',
      undefined,
    ])
      assert.deepEqual(servicesHereAlone({ ...own, databaseUrl }), ['DATABASE_URL'])
    for (const temporalAddress of ['localhost:7233', '[::1]:7233', undefined])
      assert.deepEqual(servicesHereAlone({ ...own, temporalAddress }), ['TEMPORAL_ADDRESS'])
    assert.deepEqual(servicesHereAlone({ ...own, registryUrl: 'http://127.0.0.1:5000' }), [
      'ROOST_REGISTRY_URL',
    ])
  })
})
