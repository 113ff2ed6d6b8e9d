import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readTemporalPlace } from '../../../src/settings/part-settings.ts'
import { readSettings } from '../../../src/settings/settings.ts'

describe('the settings of Temporal', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'roost-settings-'))
  const file = path.join(directory, 'some.pem')
  before(() => writeFileSync(file, 'some text\n'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  const place = async (env: Readonly<Record<string, string>>) => await readTemporalPlace(readSettings(env))

  it('ask for no TLS by default', async () => {
    const found = await place({ TEMPORAL_ADDRESS: 'temporal:7233' })
    assert.deepEqual(found, { address: 'temporal:7233', namespace: 'roost' })
  })

  it('ask for TLS as soon as one of them says something about it, unless it is switched off', async () => {
    assert.deepEqual((await place({ TEMPORAL_TLS: 'true' })).tls, {})
    assert.deepEqual((await place({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: file })).tls, {
      authority: 'some text',
    })
    assert.deepEqual((await place({ TEMPORAL_TLS_SERVER_NAME: 'name.test' })).tls, {
      serverName: 'name.test',
    })
    const pair = { TEMPORAL_TLS_CLIENT_CERT_PATH: file, TEMPORAL_TLS_CLIENT_KEY_PATH: file }
    const client = { certificate: 'some text', key: 'some text' }
    assert.deepEqual((await place(pair)).tls, { client })
    assert.equal((await place({ ...pair, TEMPORAL_TLS: 'false' })).tls, undefined)
  })

  for (const [env, message] of [
    [{ TEMPORAL_TLS: 'on' }, "TEMPORAL_TLS is 'on'; it has to be 'true' or 'false'"],
    [
      { TEMPORAL_TLS_CLIENT_CERT_PATH: file },
      'of TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH one is set; set both, or none',
    ],
    [
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/nowhere/ca.crt' },
      "TEMPORAL_TLS_SERVER_CA_CERT_PATH is '/nowhere/ca.crt', which does not exist: name a file that this part may read",
    ],
  ] as const) {
    it(`are refused: ${message}`, async () => {
      await assert.rejects(place(env), { name: 'SettingError', message })
    })
  }
})
