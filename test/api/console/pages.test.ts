import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { request } from 'undici'
import { readConsoleFiles } from '../../../src/api/console/files.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi } from '../../support/api-server.ts'

const page = '<!doctype html><title>the page</title>'
const script = 'export const one = 1\n'.repeat(100)

describe('the pages of the console', () => {
  let api: TestApi
  let directory: string
  before(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'roost-pages-'))
    mkdirSync(path.join(directory, 'assets'))
    writeFileSync(path.join(directory, 'index.html'), page)
    const file = path.join(directory, 'assets', 'app-ABC.js')
    writeFileSync(file, script)
    writeFileSync(`${file}.br`, brotliCompressSync(script))
    writeFileSync(`${file}.gz`, gzipSync(script))
    api = await startTestApi({ consoleFiles: await readConsoleFiles(directory) })
  })
  after(async () => {
    await api?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  it('are one page at every address below /console/', async () => {
    for (const at of ['/console/', '/console/instances', '/console/instances/web/log']) {
      const answer = await api.send({ path: at })
      assert.equal(answer.text, page)
      assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(answer.headers['cache-control'], 'no-cache')
    }
    const answer = await api.send({ path: '/console' })
    assert.deepEqual([answer.status, answer.headers['location']], [302, '/console/'])
  })

  it('permit nothing from elsewhere, nothing inline and no frame around them', async () => {
    const { headers } = await api.send({ path: '/console/' })
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(policy, /unsafe|data:|https?:|\*/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
  })

  it('are not sent again if they have not changed', async () => {
    const { headers } = await api.send({ path: '/console/' })
    const again = await api.send({ path: '/console/', headers: { 'if-none-match': String(headers['etag']) } })
    assert.deepEqual([again.status, again.text], [304, ''])
  })

  it('have files that are compressed as the browser can and kept for ever', async () => {
    for (const [accepted, used] of [
      ['br, gzip', 'br'],
      ['gzip', 'gzip'],
      ['identity', undefined],
    ] as const) {
      const answer = await request(`${api.url}/console/assets/app-ABC.js`, {
        headers: { 'accept-encoding': accepted },
      })
      assert.equal(answer.headers['content-encoding'], used)
      assert.equal(answer.headers['vary'], 'Accept-Encoding')
      assert.match(String(answer.headers['cache-control']), /immutable/)
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      if (used === 'br') assert.equal(String(brotliDecompressSync(bytes)), script)
    }
  })

  it('have no file that set-up has not built, wherever a path leads', async () => {
    for (const at of ['/console/assets/other-ABC.js', '/console/assets/..%2f..%2fetc%2fpasswd']) {
      assert.equal((await api.send({ path: at })).status, 404)
    }
    assert.equal((await api.send({ method: 'POST', path: '/console/' })).status, 404)
  })

  it('are at the root of their public name, where hosts and scrapers find nothing', async () => {
    const named = { 'x-forwarded-host': 'console.metro.test' }
    const answer = await api.send({ path: '/', headers: named })
    assert.deepEqual([answer.status, answer.headers['location']], [302, '/console/'])
    assert.equal((await api.send({ path: '/' })).status, 404)
    assert.equal((await api.send({ path: '/metrics', headers: named })).status, 404)
  })
})
