import assert from 'node:assert/strict'
import type { Part } from '../../../src/launch/parts/part.ts'
import { runPart } from './run-part.ts'

const own = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/home/somebody',
  LANG: 'C.UTF-8',
  LC_TIME: 'C',
  TZ: 'UTC',
  TMPDIR: '/tmp',
  ROOST_ACME_EAB_HMAC_KEY: 'secret',
  DATABASE_URL: 'postgres://roost:secret@127.0.0.1/roost',
  HTTPS_PROXY: 'http://user:secret@proxy',
  ONLY_THE_SHELLS: 'secret',
}

describe('the environment of a part', () => {
  /** The environment of a process that was started as a part. */
  async function seenBy(
    part: Pick<Part, 'readsSettings' | 'env'>,
  ): Promise<Readonly<Record<string, string>>> {
    const lines = await runPart({ program: 'env', args: [], ...part }, { environment: own })
    return Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2) as [string, string]))
  }

  it('has the variables of the machine, and no setting of Roost', async () => {
    const { PATH, HOME, LANG, LC_TIME, TZ, TMPDIR } = own
    const settings = { REGISTRY_HTTP_SECRET: 'its own', HOME: '/nowhere' }
    assert.deepEqual(await seenBy({}), { PATH, HOME, LANG, LC_TIME, TZ, TMPDIR })
    assert.deepEqual(await seenBy({ env: settings }), { PATH, LANG, LC_TIME, TZ, TMPDIR, ...settings })
  })

  it('has everything if the part belongs to Roost, which reads its settings there', async () => {
    const settings = { DATABASE_URL: '' }
    assert.deepEqual(await seenBy({ readsSettings: true, env: settings }), { ...own, ...settings })
  })
})
