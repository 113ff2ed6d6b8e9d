import { strict as assert } from 'node:assert'
import type { HostReport } from '../../../src/domain/host/api-protocol.ts'
import { admitHost, inviteHost, joinedMachines } from '../../../src/db/host/joining.ts'
import { readJoinToken } from '../../../src/trust/join-token.ts'
import { fingerprintOf, makePartAuthority } from '../../../src/trust/part-authority.ts'
import type { KeyPairPem } from '../../../src/x509/key-pair.ts'
import { addNode, hearNode, testAgentSecret } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'
import { createRoostProgram } from '../../support/roost-program.ts'
import type { RoostProgram } from '../../support/roost-program.ts'
import { readRows } from '../../support/rows.ts'
import { assertShows } from '../../support/shown-fields.ts'

const hostsAddress = { host: '192.0.2.10', port: 7075 }

describe('hosts that join, over the API', () => {
  let api: TestApi
  let user: TestUser
  let admin: TestUser
  let authority: KeyPairPem
  const told: HostReport[] = []
  before(async () => {
    authority = await makePartAuthority(Date.now())
    const hostReports = { tell: async (report: HostReport) => told.push(report) > 0 }
    api = await startTestApi({ authority, hostReports, settings: { hostsAddress } })
    user = await api.addUser()
    admin = await api.addUser({ admin: true })
  })
  after(() => api.close())

  const invite = async (name?: string) =>
    await admin.api.one('inviteHosts', { body: { ...(name !== undefined && { name }) } })
  /** Has a machine join, which was never heard of. */
  const join = async (hostId: string) => {
    await inviteHost(api.database, { hostId, secret: hostId })
    assert.ok((await admitHost(api.database, { secret: hostId, keySha256: hostId })).ok)
  }
  const isJoined = async (hostId: string) => (await joinedMachines(api.database)).has(hostId)

  it('are invited with an address and a token that no other answer and no log has', async () => {
    const first = await invite()
    assertShows(first, { status: 'success', name: 'h2', address: '192.0.2.10:7075' })
    const token = readJoinToken(first.token)
    assert.ok(token?.fingerprint.equals(fingerprintOf(authority.chain)))
    const inAnHour = Date.parse(first.expires_at) - Date.now()
    assert.ok(inAnHour > 3_500_000 && inAnHour < 3_700_000)
    assert.equal((await invite('attic')).name, 'attic')
    assert.ok(token)
    const { secret } = token
    const stored = JSON.stringify(await readRows(api.database, { text: 'select * from host_invitations' }))
    const shown = (await api.send({ path: '/v1/hosts', token: admin.token })).text
    for (const place of [stored, shown, ...api.logLines])
      assert.ok(!place.includes(secret) && !place.includes(first.token), place)
    assert.ok(api.logLines.some((line) => line.includes('a host was invited') && line.includes('attic')))
  })

  it('are no API and no worker while the services are those of the first machine alone', async () => {
    const servicesHereAlone = ['TEMPORAL_ADDRESS', 'ROOST_REGISTRY_URL']
    const alone = await startTestApi({ authority, settings: { hostsAddress, servicesHereAlone } })
    try {
      const owner = await alone.addUser({ admin: true })
      const refusal = async (role: 'api' | 'worker') =>
        (await owner.api.attempt('inviteHosts', { body: { roles: [role] } })).entries?.[0] ?? {}
      const needs = (role: string, settings: string) => ({
        status: 'error',
        message:
          `The role '${role}' needs services that other machines reach: set ${settings} to addresses of your own, and start this ` +
          'machine again (docs/operations.md)',
      })
      assertShows(await refusal('api'), needs('api', 'TEMPORAL_ADDRESS, ROOST_REGISTRY_URL'))
      assertShows(await refusal('worker'), needs('worker', 'TEMPORAL_ADDRESS'))
      assert.equal((await owner.api.one('inviteHosts', { body: { roles: ['gateway'] } })).status, 'success')
    } finally {
      await alone.close()
    }
    const { roles } = await admin.api.one('inviteHosts', { body: { roles: ['api', 'worker'] } })
    assert.deepEqual(roles, ['api', 'worker'])
  })

  it('are invited with roles that there are', async () => {
    const { name, roles } = await admin.api.one('inviteHosts', { body: { roles: ['gateway'] } })
    assert.deepEqual(roles, ['gateway'])
    assert.deepEqual((await invite()).roles, [])
    assert.ok(api.logLines.some((line) => line.includes(name) && line.includes('"roles":["gateway"]')))
    for (const wrong of [['gateway', 'gateway'], ['agent'], ['registry'], 'gateway', [1]]) {
      const body = { roles: wrong }
      const answer = await api.send({
        method: 'POST',
        path: '/v1/hosts/invitations',
        token: admin.token,
        body,
      })
      assert.equal(answer.status, 400, JSON.stringify(wrong))
    }
  })

  it('are invited and removed by administrators alone', async () => {
    const { entries, ...refused } = await user.api.attempt('inviteHosts', { body: {} })
    assert.deepEqual(entries, [])
    assert.match(JSON.stringify(refused), /administrator/i)
    await join('quiet')
    for (const name of ['local', 'quiet']) {
      const removal = await user.api.attempt('deleteHosts', { body: { name } })
      assert.match(JSON.stringify(removal), /not found|no host/i)
    }
    assert.ok(await isJoined('quiet'))
    assert.equal((await admin.api.one('deleteHosts', { body: { name: 'quiet' } })).status, 'success')
  })

  it('have names that are one label of DNS and not taken', async () => {
    for (const name of ['A', 'a.b', 'a_b', '-a', 'a-', ' ', 'a'.repeat(64), '../x', '0123456789ab']) {
      const answer = await api.send({
        method: 'POST',
        path: '/v1/hosts/invitations',
        token: admin.token,
        body: { name },
      })
      assert.equal(answer.status, 400, JSON.stringify(name))
    }
    const many = await api.send({
      method: 'POST',
      path: '/v1/hosts/invitations',
      token: admin.token,
      body: [{ name: 'good' }, { name: 'B' }],
    })
    assert.equal(many.status, 400)
    assert.match(
      many.text,
      /Invalid host name 'B': expected lower-case letters, digits and hyphens, at most 63/,
    )
    assert.equal((await invite('good')).status, 'success', 'nothing was done of the refused request')
    for (const name of ['good', 'local']) {
      const { entries } = await admin.api.attempt('inviteHosts', { body: { name } })
      assert.partialDeepStrictEqual(entries, [
        { name, message: `The name '${name}' belongs to a host, or is in an open invitation` },
      ])
    }
  })

  it('are not invited where nobody could connect, and it says what to do', async () => {
    const alone = await startTestApi()
    try {
      const administrator = await alone.addUser({ admin: true })
      const { entries } = await administrator.api.attempt('inviteHosts', { body: {} })
      assert.partialDeepStrictEqual(entries, [
        {
          status: 'error',
          message:
            'This installation takes no further hosts: set ROOST_HOSTS_ADDRESS to the address at which other machines ' +
            'reach it, and start it again',
        },
      ])
      assert.deepEqual(await readRows(alone.database, { text: 'select * from host_invitations' }), [])
    } finally {
      await alone.close()
    }
  })

  it('are removed while they are live, and when they were never heard of', async () => {
    await join('live')
    await hearNode(api.database, { id: 'live' })
    await join('unheard')
    await invite('invited')
    await addNode(api.database, { id: 'beside' })
    const { entries } = await admin.api.attempt('deleteHosts', {
      body: [
        { name: 'live' },
        { name: 'unheard' },
        { name: 'invited' },
        { name: 'beside' },
        { name: 'nobody' },
      ],
    })
    assert.deepEqual(
      entries?.map(({ name, status }) => `${name} ${status}`),
      ['live success', 'unheard success', 'invited success', 'beside error', 'nobody error'],
    )
    assert.match(JSON.stringify(entries?.[3]), /heard of within the last \d+ s: stop its agent first/)
    for (const name of ['live', 'unheard']) assert.ok(!(await isJoined(name)), name)
    assert.equal((await invite('invited')).status, 'success')
  })

  it('report about their own instances and volumes alone', async () => {
    const instance = await user.api.one('createInstances', { body: { image: 'hello' } })
    const volume = await user.api.one('createVolumes', { body: { size_mb: 8 } })
    await addNode(api.database, { id: 'other' })
    const homes = await readRows(api.database, {
      text: 'select node_id from instances where uuid = $1 union all select node_id from volumes where uuid = $2',
      values: [instance.uuid, volume.uuid],
    })
    const [home] = Object.values(homes[0] as Record<string, string>)
    assert.deepEqual(homes[1], homes[0])
    const report = async (host: string, body: unknown, secret = testAgentSecret(host)) => {
      const answer = await api.send({
        method: 'POST',
        path: `/internal/nodes/${host}/reports`,
        headers: { authorization: `Bearer ${secret}` },
        body,
      })
      return answer.status === 200 ? answer.json : answer.status
    }
    const reports = [
      { kind: 'instance', uuid: instance.uuid, event: { kind: 'exited', boot: 1 } },
      { kind: 'volume', uuid: volume.uuid, event: { kind: 'made' } },
    ]
    const stranger = home === 'other' ? 'local' : 'other'
    for (const one of reports) {
      assert.deepEqual(await report(stranger, one), { taken: false })
      assert.equal(await report(home!, one, testAgentSecret(stranger)), 401)
    }
    assert.deepEqual(told, [])
    for (const one of reports) assert.deepEqual(await report(home!, one), { taken: true })
    assert.deepEqual(told, reports)
    const [first, second] = reports
    for (const untaken of [
      { ...first, event: { kind: 'made' } },
      { ...second, event: { kind: 'exited' } },
      { ...first, event: { kind: 'removed' } },
      { ...second, event: { kind: 'removed' } },
      { ...first, event: { kind: 'of a later version' } },
      { ...first, event: { kind: 'constructor' } },
    ])
      assert.deepEqual(await report(home!, untaken), { taken: false }, JSON.stringify(untaken))
    for (const body of [
      { ...first, kind: 'service' },
      { ...first, uuid: `${instance.uuid}/x` },
      { ...first, event: 'exited' },
      { ...first, event: {} },
    ])
      assert.equal(await report(home!, body), 400, JSON.stringify(body))
    assert.equal(told.length, 2)
  })
})

describe('commands about hosts', () => {
  let api: TestApi
  let admin: TestUser
  let roost: RoostProgram
  before(async () => {
    const authority = await makePartAuthority(Date.now())
    api = await startTestApi({ authority, settings: { hostsAddress: { host: '2001:db8::1', port: 7443 } } })
    admin = await api.addUser({ admin: true })
    roost = await createRoostProgram({ url: api.url, token: admin.token })
  })
  after(async () => {
    await roost.remove()
    await api.close()
  })

  it('invite writes the line for the new machine, and what to do with it beside', async () => {
    const { code, out, err } = await roost.run(['host', 'invite', '--name', 'attic'])
    assert.equal(code, 0, err)
    const [, token] = /^npx roost join \[2001:db8::1\]:7443 (\S+)\n$/.exec(out) ?? []
    assert.ok(readJoinToken(token ?? ''), out)
    assert.match(err, /^Run this on the new machine, in a checkout of Roost, before \d{4}-.*:\n$/)
    const again = await roost.run(['host', 'invite', '--name', 'attic'])
    assert.notEqual(again.code, 0)
    assert.match(again.err, /The name 'attic' belongs to a host, or is in an open invitation/)
    const json = await roost.run(['host', 'invite', '-o', 'json'])
    assert.equal(JSON.parse(json.out).name, 'h2')
  })

  it('list, show, cordon and uncordon tell of a host', async () => {
    assert.match((await roost.run(['host', 'ls'])).out, /^NAME +STATE .*\nlocal +live /)
    assert.match(
      (await roost.run(['host', 'list', 'local'])).out,
      / VCPUS .*\nlocal .* 65536  0  +0 of 1048576 /,
    )
    await hearNode(api.database, { id: 'local', cpus: 3 })
    assert.match((await roost.run(['host', 'list', 'local'])).out, /\nlocal .* 0 of 12 /)
    assert.match((await roost.run(['host', 'show', 'local'])).out, /^local is live: /)
    assert.equal((await roost.run(['host', 'cordon', 'local'])).out, 'local is cordoned\n')
    assert.match((await roost.run(['host', 'list', 'local'])).out, /\nlocal +live, cordoned /)
    assert.equal((await roost.run(['host', 'drain', 'local'])).out, 'local is empty, and stays cordoned\n')
    assert.match((await roost.run(['host', 'list', 'local'])).out, /\nlocal +live, draining: 0 to move /)
    assert.equal((await roost.run(['host', 'uncordon', 'local'])).out, 'local is uncordoned\n')
  })

  it('label sets and removes labels, and says what is no change of one', async () => {
    const labelled = await roost.run(['host', 'label', 'local', 'disk=nvme', 'url=a/b:c', 'spare='])
    assert.equal(labelled.out, 'local has disk=nvme, spare=, url=a/b:c\n', labelled.err)
    assert.match(
      (await roost.run(['host', 'list'])).out,
      /LABELS .*\nlocal .* disk=nvme, spare=, url=a\/b:c /,
    )
    assert.match(
      (await roost.run(['host', 'show', 'local'])).out,
      /^local \(disk=nvme, spare=, url=a\/b:c\) is live: /,
    )
    const json = await roost.run(['host', 'label', 'local', 'spare-', 'url-', '-o', 'json'])
    assert.deepEqual(JSON.parse(json.out).labels, { disk: 'nvme' })
    assert.equal((await roost.run(['host', 'label', 'local', 'disk-'])).out, 'local has no labels\n')
    for (const [changes, said] of [
      [['disk'], /'disk' is no change of a label: write key=value to set it, or key- to remove it/],
      [['=nvme'], /'=nvme' is no change of a label/],
      [['disk=a', 'disk-'], /the label 'disk' is named twice/],
      [['Disk=a'], /Disk/],
    ] as const) {
      const refused = await roost.run(['host', 'label', 'local', ...changes])
      assert.notEqual(refused.code, 0)
      assert.match(refused.err, said)
    }
  })

  it('remove takes an invitation back, and says why a host is not removed', async () => {
    await roost.run(['host', 'invite', '--name', 'cellar'])
    const removed = await roost.run(['host', 'remove', 'cellar'])
    assert.equal(removed.out, 'cellar is removed and locked out\n', removed.err)
    await hearNode(api.database, { id: 'local' })
    const refused = await roost.run(['host', 'remove', 'local', 'nobody'])
    assert.notEqual(refused.code, 0)
    assert.match(refused.err, /Host 'local' was heard of within the last \d+ s: stop its agent first/)
    assert.match(refused.err, /nobody/)
  })

  it('are refused for other accounts', async () => {
    const user = await api.addUser()
    const theirs = await createRoostProgram({ url: api.url, token: user.token })
    try {
      const ended = await theirs.run(['host', 'invite'])
      assert.notEqual(ended.code, 0)
      assert.match(ended.err, /administrator/i)
    } finally {
      await theirs.remove()
    }
  })
})
