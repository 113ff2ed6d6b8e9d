import assert from 'node:assert/strict'
import { configuredIssuer } from '../../src/bin/issuer.ts'
import { SettingError } from '../../src/settings/setting-formats.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { startPebble } from '../support/pebble.ts'
import { createMemoryStore } from './memory-store.ts'

const machine = {
  homeDirectory: '/home/ada',
  checkoutDirectory: '/src/roost',
  lowPorts: false,
  networkDevices: false,
}
const hmacKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'
const directoryUrl = 'https://acme.example/directory'

describe('the authority that settings name', () => {
  const configured = (env: Readonly<Record<string, string>>) =>
    configuredIssuer(readSettings(env, machine), createMemoryStore())

  it('is the local one if they name none', async () => {
    const { issuer, directory, pace, close } = await configured({})
    assert.equal(pace, undefined)
    assert.deepEqual([issuer.name, directory], ['the local authority', 'local'])
    await close()
  })

  it('is used with all settings for it', async () => {
    const pebble = await startPebble({ externalAccounts: { 'kid-1': hmacKey } })
    const { issuer, directory, pace, close } = await configured({
      ROOST_ACME_ORDERS: '1000',
      ROOST_ACME_ORDERS_HOURS: '24',
      ROOST_ACME_DIRECTORY_URL: pebble.directoryUrl,
      ROOST_ACME_CA_FILE: pebble.caFile,
      ROOST_ACME_EAB_KID: 'kid-1',
      ROOST_ACME_EAB_HMAC_KEY: hmacKey,
      ROOST_ACME_CONTACT: 'ann@example.com,bob@example.com',
    })
    try {
      assert.equal(directory, pebble.directoryUrl)
      assert.deepEqual(pace, { orders: 1_000, windowMs: 86_400_000, nameOrders: 5 })
      assert.equal(issuer.name, new URL(pebble.directoryUrl).host)
      assert.equal((await issuer.open(['www.example.test'], {})).state, 'pending')
    } finally {
      await close()
      await pebble.stop()
    }
  })

  it('is not asked before its first use', async () => {
    const { close } = await configured({ ROOST_ACME_DIRECTORY_URL: 'https://127.0.0.1:1/directory' })
    await close()
  })

  it('is refused if half of an account, or a file, is missing, with the name of the setting', async () => {
    for (const [name, value] of [
      ['ROOST_ACME_EAB_KID', 'kid-1'],
      ['ROOST_ACME_EAB_HMAC_KEY', hmacKey],
      ['ROOST_ACME_CA_FILE', '/nowhere/root.crt'],
    ] as const) {
      await assert.rejects(
        configured({ ROOST_ACME_DIRECTORY_URL: directoryUrl, [name]: value }),
        (error) =>
          error instanceof SettingError && error.message.includes(name) && !error.message.includes(hmacKey),
      )
    }
  })
})
