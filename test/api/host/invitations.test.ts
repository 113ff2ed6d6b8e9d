import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { admitHost, inviteHost, joinedMachines } from '../../../src/db/host/joining.ts'
import { HostRole } from '../../../src/domain/host/role.ts'
import { readJoinToken } from '../../../src/trust/join-token.ts'
import { makePartAuthority } from '../../../src/trust/part-authority.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'
import { readRows } from '../../support/rows.ts'

describe('invitations of machines', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  let roost: RoostProgram
  before(async () => {
    const authority = await makePartAuthority(Date.now())
    api = await startTestApi({ authority, settings: { hostsAddress: { host: '192.0.2.10', port: 7075 } } })
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
    roost = await createRoostProgram({ url: api.url, token: admin.token })
  })
  after(async () => {
    await roost.remove()
    await api.close()
  })
  afterEach(async () => await readRows(api.database, { text: 'delete from host_invitations' }))

  const invite = async (name: string, roles: readonly HostRole[] = []) =>
    await admin.api.one('inviteHosts', { body: { name, roles: [...roles] } })
  const names = async () => (await admin.api.call('getHostInvitations')).map(({ name }) => name)
  const admit = async (secret: string) => await admitHost(api.database, { secret, keySha256: 'a key' })

  it('are shown without their secrets, oldest first', async () => {
    const made = [await invite('cellar', [HostRole.Gateway]), await invite('attic')]
    const answer = await api.send({ path: '/v1/hosts/invitations', token: admin.token })
    assert.equal(answer.status, 200)
    const shown = answer.json.data.hosts
    const times: readonly string[] = shown.map((one: { readonly created_at: string }) => one.created_at)
    assert.deepEqual(shown, [
      { name: 'cellar', roles: ['gateway'], created_at: times[0], expires_at: made[0]?.expires_at },
      { name: 'attic', roles: [], created_at: times[1], expires_at: made[1]?.expires_at },
    ])
    assert.equal(Date.parse(made[0]!.expires_at) - Date.parse(times[0]!), 3_600_000)
    for (const { token } of made) {
      const { secret } = readJoinToken(token)!
      const hash = createHash('sha256').update(secret).digest('hex')
      for (const hidden of [token, secret, hash]) assert.ok(!answer.text.includes(hidden))
    }
    const { name } = await admin.api.one('getHostInvitations', { object: 'Attic' })
    assert.equal(name, 'attic')
  })

  it('are shown only while a machine can join with them', async () => {
    for (const hostId of ['waits', 'late', 'used'])
      await inviteHost(api.database, { hostId, secret: `the secret of ${hostId}` })
    await readRows(api.database, {
      text: "update host_invitations set expires_at = now() where host_id = 'late'",
    })
    assert.ok((await admit('the secret of used')).ok)
    assert.deepEqual(await names(), ['waits'])
    const { entries } = await admin.api.attempt('deleteHostInvitations', {
      body: ['late', 'used', 'waits'].map((name) => ({ name })),
    })
    assert.deepEqual(
      entries?.map((one) => ('message' in one ? one.message : one.status)),
      ["No invitation with name 'late'", "No invitation with name 'used'", 'success'],
    )
    assert.ok((await joinedMachines(api.database)).has('used'), 'the host stays')
  })

  it('that are taken back admit nobody, and their names are free', async () => {
    const { token } = await invite('shed')
    assert.equal((await admin.api.one('deleteHostInvitations', { object: 'shed' })).status, 'success')
    assert.deepEqual(await admit(readJoinToken(token)!.secret), { ok: false, refusal: 'unknown' })
    assert.ok(api.logLines.some((line) => line.includes('an invitation was taken back')))
    assert.equal((await invite('shed')).name, 'shed')
  })

  it('are not those of hosts, which go on under their name', async () => {
    const { entries } = await admin.api.attempt('deleteHostInvitations', { body: { name: 'local' } })
    assert.match(JSON.stringify(entries), /No invitation with name 'local'/)
    assert.equal((await admin.api.one('getHosts', { object: 'local' })).name, 'local')
  })

  it('look to everybody else as if there were none', async () => {
    await invite('attic')
    assert.deepEqual(await user.api.call('getHostInvitations'), [])
    for (const operation of ['getHostInvitations', 'deleteHostInvitations'] as const) {
      const { entries } = await user.api.attempt(operation, { body: { name: 'attic' } })
      assert.match(JSON.stringify(entries), /No invitation with name 'attic'/)
    }
    assert.deepEqual(await names(), ['attic'])
  })

  it('that have the name of an endpoint are reached in global scope, and no host is mistaken for them', async () => {
    await invite('explain')
    const path = '/v1/hosts/invitations/explain'
    assert.equal((await api.send({ path, token: admin.token })).status, 405)
    const body = { name: 'explain' }
    assert.equal((await admin.api.one('getHostInvitations', { body })).name, 'explain')
    assert.equal((await admin.api.one('deleteHostInvitations', { body })).name, 'explain')
  })

  it('are listed and taken back by commands', async () => {
    await invite('attic')
    await invite('edge', [HostRole.Gateway])
    const list = await roost.run(['host', 'invitations'])
    assert.match(
      list.out,
      /^NAME +ROLES +AGE +EXPIRES IN *\nattic +- +\d+ (s|min) +\d+ (min|h) *\nedge +gateway +\d+ (s|min) +\d+ (min|h) *\n$/,
      list.err,
    )
    const json = await roost.run(['host', 'invitations', 'edge', '-o', 'json'])
    assert.deepEqual(
      JSON.parse(json.out).map(({ name }: { readonly name: string }) => name),
      ['edge'],
    )
    const taken = await roost.run(['host', 'uninvite', 'attic', 'nobody'])
    assert.notEqual(taken.code, 0)
    assert.equal(taken.out, 'the invitation of attic is taken back\n')
    assert.match(taken.err, /No invitation with name 'nobody'/)
    assert.deepEqual(await names(), ['edge'])
  })
})
