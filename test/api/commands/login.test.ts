import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile, stat, writeFile, mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { createServer } from 'node:tls'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { makeTestCertificate } from '../../support/certificate-maker.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'

describe('roost login', () => {
  let api: TestApi
  let user: TestUser
  let roost: RoostProgram
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
  })
  beforeEach(async () => {
    roost = await createRoostProgram()
  })
  afterEach(() => roost.remove())
  after(() => api.close())

  it('keeps address and token in a file of the user alone, and commands use them', async () => {
    const login = await roost.run(['login', api.url], { input: `${user.token}\n` })
    assert.deepEqual([login.code, login.err], [0, ''])
    const file = path.join(roost.home, '.config', 'roost', 'config.json')
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    assert.ok((await readFile(file, 'utf8')).includes(user.token))
    assert.ok(!login.out.includes(user.token))
    const quota = await roost.run(['quota', '-o', 'json'])
    assert.equal(quota.code, 0)
    assert.equal(JSON.parse(quota.out).used.instances, 0)
  })

  it('refuses a token that the installation refuses, and keeps nothing', async () => {
    const login = await roost.run(['login', api.url], { input: 'not-a-token' })
    assert.equal(login.code, 4)
    assert.ok(!login.err.includes('not-a-token'))
    assert.equal((await roost.run(['ps'])).code, 4)
  })

  it('has profiles, of which one is in use', async () => {
    const other = await api.addUser()
    await roost.run(['login', api.url, '--profile', 'one'], { input: user.token })
    await roost.run(['login', api.url, '--profile', 'two'], { input: other.token })
    await other.api.one('createVolumes', { body: { name: 'of-two', size_mb: 64 } })
    const names = async (...args: string[]) =>
      JSON.parse((await roost.run(['volume', 'ls', '-o', 'json', ...args])).out).map(
        (volume: { readonly name: string }) => volume.name,
      )
    assert.deepEqual(await names(), ['of-two'])
    assert.deepEqual(await names('--profile', 'one'), [])
    await roost.run(['profile', 'one'])
    assert.deepEqual(await names(), [])
    const missing = await roost.run(['ps', '--profile', 'three'])
    assert.match(missing.err, /no profile 'three'; there are: one, two/)
    assert.equal(missing.code, 4)
  })

  it('never sends the token of a profile to an address of the environment', async () => {
    await roost.run(['login', api.url], { input: user.token })
    const ps = await roost.run(['ps'], { env: { ROOST_ADDRESS: 'http://127.0.0.1:9' } })
    assert.equal(ps.code, 4)
    assert.match(ps.err, /ROOST_TOKEN/)
  })

  it('trusts the authority that it was given, and so do later commands', async () => {
    const authority = await makeTestCertificate({ subject: 'CN=root', authority: true })
    const made = await makeTestCertificate({
      subject: 'CN=localhost',
      names: ['localhost'],
      issuer: authority,
    })
    // A proxy with TLS in front of the API, as the gateway is.
    const { hostname: host, port } = new URL(api.url)
    const proxy = createServer({ cert: made.pem, key: made.pkey }, (near) => {
      const far = connect({ host, port: Number(port) })
      near.on('error', () => far.destroy()).pipe(far)
      far.on('error', () => near.destroy()).pipe(near)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const address = `https://localhost:${(proxy.address() as AddressInfo).port}`
    await writeFile(path.join(roost.home, 'root.pem'), authority.pem)
    const ca = path.join(roost.home, 'root.pem')
    const refused = await roost.run(['login', address], { input: user.token })
    assert.equal(refused.code, 5)
    assert.match(refused.err, /certificate/)
    const login = await roost.run(['login', address, '--ca', ca], { input: user.token })
    assert.equal(login.code, 0, login.err)
    const ps = await roost.run(['ps'])
    assert.equal(ps.code, 0, ps.err)
    proxy.close()
  })

  it('is not needed on the machine of the installation', async () => {
    const dataDir = path.join(roost.home, 'data')
    await mkdir(dataDir)
    await writeFile(path.join(dataDir, 'stack.json'), JSON.stringify({ apiUrl: api.url }))
    await writeFile(path.join(dataDir, 'token'), `${user.token}\n`)
    const ps = await roost.run(['ps'], { env: { ROOST_DATA_DIR: dataDir } })
    assert.deepEqual([ps.code, ps.err], [0, ''])
  })
})
