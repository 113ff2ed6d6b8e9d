import { strict as assert } from 'node:assert'
import { NodeUnavailable } from '../../src/control/host-client.ts'
import { addAttempt, endAttempt } from '../../src/db/certificate/attempts.ts'
import { makeMove } from '../../src/db/rollout/moves.ts'
import { listRollouts } from '../../src/db/rollout/records.ts'
import { LeasePhase } from '../../src/domain/standby/host-lease-phase.ts'
import type { HostLeaseView } from '../../src/domain/standby/lease-protocol.ts'
import { addNode, testSecretBox } from '../support/accounts.ts'
import { startTestApi } from '../support/api-server.ts'
import type { TestApi, TestUser } from '../support/api-server.ts'
import { makeTestCertificate } from '../support/certificate-maker.ts'
import { explainedText, roostBeside } from '../support/explanations.ts'
import { readRows } from '../support/rows.ts'
import { assertShows } from '../support/shown-fields.ts'

const idleSinceMs = Date.parse('2026-01-02T03:04:05.678Z')
const lease: HostLeaseView = {
  phase: LeasePhase.Running,
  boot: 1,
  awake: true,
  leases: 1,
  connections: 0,
  requests: 2,
  queued: 0,
  disabled: false,
  permit: 7,
}

describe('explanations over the API', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser()
  })
  after(() => api.close())
  afterEach(() => {
    delete api.nodes.fails
    delete api.autoscaleControl.faults.isAway
    delete api.control.faults.isAway
  })

  const roost = (...args: readonly string[]) => roostBeside(api, args)
  const text = (path: string) => explainedText(api, { path, token: user.token })
  const become = (uuid: string, state: string) =>
    readRows(api.database, {
      text: "update instances set state = $1, started_at = '2026-01-01T00:00:00Z', boot = 1 where uuid = $2",
      values: [state, uuid],
    })

  describe('of instances', () => {
    const made = (body: object = {}) =>
      user.api.one('createInstances', {
        body: {
          image: 'hello',
          args: ['--secret-argument'],
          env: { KEY: 'secret-value' },
          scale_to_zero: { policy: 'on', cooldown_time_ms: 1_000 },
          ...body,
        },
      })

    it('say why an instance is on its host, if there was a choice', async () => {
      const { name: before } = await made()
      assert.equal((await user.api.one('explainInstances', { object: before })).placed, undefined)
      await addNode(api.database, { id: 'cellar', memoryMb: 1_024 })
      const { name } = await made()
      const entry = await user.api.one('explainInstances', { object: name })
      assert.match(
        entry.placed ?? '',
        /^it is on host local, which of 2 hosts had most room when it was made/,
      )
      assert.ok(entry.text.endsWith(`\nplacement: ${entry.placed}`), entry.text)
      assert.equal(`${entry.text}\n`, await roost('explain', name))
      await readRows(api.database, { text: "delete from nodes where id = 'cellar'", values: [] })
    })

    it('say what the host says, in the sentences of the command, and as data', async () => {
      const { uuid, name } = await made()
      await become(uuid, 'running')
      api.nodes.leases.set(uuid, { ...lease, idleSinceMs, wakeFailure: { message: 'no', retryAtMs: 0 } })
      const entry = await user.api.one('explainInstances', { object: name })
      const { requests, connections, queued, disabled, leases, phase, awake } = lease
      assertShows(entry, {
        status: 'success',
        uuid,
        name,
        state: 'running',
        now: `${name} is awake, and nothing has asked for it since 2026-01-02T03:04:05.678Z.`,
        next: 'standby at any moment, unless something asks for it',
        host: 'local',
        note: undefined,
        lease: {
          requests,
          connections,
          queued,
          disabled,
          leases,
          phase,
          awake,
          idle_since: '2026-01-02T03:04:05Z',
          wake_failure: { message: 'no', retry_at: '1970-01-01T00:00:00Z' },
        },
      })
      assert.equal(`${entry.text}\n`, await roost('explain', uuid))
      assert.equal(await text(`/v1/instances/${name}/explain`), await roost('explain', uuid))
    })

    it('say that the host does not answer, and what is recorded', async () => {
      const { uuid } = await made()
      await become(uuid, 'running')
      api.nodes.fails = new NodeUnavailable('silent')
      const entry = await user.api.one('explainInstances', { object: uuid })
      assert.equal(entry.note, 'host local does not answer; this is what is recorded:')
      assert.ok(!('lease' in entry))
      assert.match(entry.now, /is awake since 2026-01-01T00:00:00\.000Z; why, only host local knows/)
      assert.equal(`${entry.text}\n`, await roost('explain', uuid))
      assert.ok(entry.text.startsWith(`${entry.note}\n${entry.now}\n`))
    })

    it('do without a workflow that does not answer', async () => {
      const { uuid } = await made()
      await become(uuid, 'draining')
      api.control.faults.isAway = true
      const { next } = await user.api.one('explainInstances', { object: uuid })
      assert.match(next, /or when its drain timeout is over$/)
    })

    it('leave out the lease in a phase that only another release knows', async () => {
      const { uuid } = await made()
      api.nodes.leases.set(uuid, { ...lease, phase: 'dreaming' as LeasePhase })
      const entry = await user.api.one('explainInstances', { object: uuid })
      assert.ok(!('lease' in entry))
      assert.match(entry.now, /is asleep/)
    })

    it('have the trouble of its volume', async () => {
      const { uuid: volume } = await user.api.one('createVolumes', { body: { name: 'ledger', size_mb: 8 } })
      const { uuid } = await made({ name: 'till', volumes: [{ uuid: volume, at: '/data' }] })
      assert.ok(!('volume' in (await user.api.one('explainInstances', { object: uuid }))))
      await readRows(api.database, {
        text: "update volumes set phase = 'error', failure = 'its file is gone' where uuid = $1",
        values: [volume],
      })
      const entry = await user.api.one('explainInstances', { object: uuid })
      assert.equal(entry.volume?.failure, 'its file is gone')
      assert.match(entry.text, /\nits volume: ledger can not be used as it is\.\n/)
    })

    it('tell neither arguments nor environment nor inner numbers of hosts', async () => {
      const { uuid } = await made()
      api.nodes.leases.set(uuid, lease)
      const path = `/v1/instances/${uuid}/explain`
      const shown = `${(await api.send({ path, token: user.token })).text}${await text(path)}`
      for (const secret of ['secret-argument', 'secret-value', 'permit', user.token]) {
        assert.ok(!shown.includes(secret), `${secret} in ${shown}`)
      }
    })

    it('are one paragraph each as text, and that of an object that does not exist says so', async () => {
      const [one, other] = [await made({ name: 'one' }), await made({ name: 'other' })]
      const told = await text('/v1/instances/explain?name=one,nobody,other')
      const paragraphs = [
        await roost('explain', one.uuid),
        "No instance with name 'nobody'\n",
        await roost('explain', other.uuid),
      ]
      assert.equal(told, paragraphs.join('\n'))
    })

    it('are JSON unless the request asks for text alone', async () => {
      const { uuid } = await made()
      for (const accept of ['*/*', 'application/json', 'text/plain, application/json']) {
        const path = `/v1/instances/${uuid}/explain`
        const answer = await api.send({ path, token: user.token, headers: { accept } })
        assert.equal(answer.json.data.instances[0].uuid, uuid, accept)
      }
      const wrong = { path: '/v1/instances/explain', token: user.token, headers: { accept: 'text/plain' } }
      assert.equal((await api.send(wrong)).json.errors[0].error, 13)
    })
  })

  describe('of services', () => {
    it('say what a request meets, from the states that hosts report', async () => {
      const made = await user.api.one('createInstances', {
        body: {
          image: 'hello',
          name: 'clerk',
          scale_to_zero: { policy: 'on' },
          service_group: {
            services: [{ port: 443, destination_port: 8080 }],
            domains: [{ name: 'counter' }],
          },
        },
      })
      const service = made.service_group!
      const explain = () => user.api.one('explainServices', { object: service.uuid })
      const asleep = await explain()
      assertShows(asleep, {
        status: 'success',
        uuid: service.uuid,
        name: service.name,
        state: 'wakes',
        now: `${service.name} is asleep, and the next request wakes it: 1 instance sleeps.`,
        services: [{ port: 443, does: 'HTTP over TLS, to port 8080 of its instances' }],
        domains: [{ fqdn: 'counter.metro.test', does: "is served with the metro domain's certificate" }],
        instances: [{ uuid: made.uuid, name: 'clerk', does: 'sleeps on host local' }],
      })
      assert.equal(`${asleep.text}\n`, await roost('explain', service.uuid))
      assert.equal(await text(`/v1/services/${service.name}/explain`), await roost('explain', service.uuid))
      api.nodes.awake.set(made.uuid, { boot: 1, state: 'running' })
      assert.equal((await explain()).state, 'answered')
    })

    it('tell a rollout that is under way or keeps the old version, and mark the new instances', async () => {
      const name = 'rolled'
      const services = [{ port: 443, destination_port: 8080 }]
      const { uuid } = await user.api.one('createServices', { body: { name, services, domains: [{ name }] } })
      await user.api.one('createInstances', {
        body: { name: 'first', image: 'hello', autostart: true, service_group: { name } },
      })
      const explain = () => user.api.one('explainServices', { object: name })
      assert.equal((await explain()).rollout, undefined)
      const body = { canary: [5, 100], add: { env: { A: '1' } } }
      const { rollout } = await user.api.one('createRollouts', { object: name, body })
      const [fresh] = rollout.new_instances!
      const begun = await explain()
      assert.equal(begun.rollout?.phase, 'preparing')
      assert.equal(begun.rollout.percent, 0)
      assert.match(begun.rollout.now, new RegExp(`^step 1 of 2: waits until healthy: ${fresh!.name} `))
      const does = new Map(begun.instances.map((one) => [one.name, one.does]))
      assert.match(String(does.get(fresh!.name)), /, of the new version$/)
      assert.doesNotMatch(String(does.get('first')), /version/)
      assert.ok(
        begun.text.includes(`its rollout:\n  - ${begun.rollout.now}\n  - next: ${begun.rollout.next}`),
      )
      assert.equal(`${begun.text}\n`, await roost('explain', uuid))
      const move = async (kind: 'hold' | 'finish') => {
        const [row] = await listRollouts(api.database, uuid, 1)
        await makeMove({ database: api.database, secretBox: testSecretBox }, row!, { kind })
      }
      await move('hold')
      assert.match((await explain()).rollout!.now, /requests wait at the gateways meanwhile$/)
      await move('finish')
      const kept = await explain()
      assert.equal(kept.rollout?.phase, 'kept')
      assert.match(kept.rollout.next, /`roost rollback rolled` goes back$/)
      assert.deepEqual(
        kept.instances.map((one) => one.name),
        ['first'],
      )
      const { next } = await user.api.one('explainInstances', { object: fresh!.name })
      assert.match(next, /^a rollout keeps it as the way back: /)
    })

    it('ask each host once, however many services are named', async () => {
      const names = ['first', 'second']
      for (const name of names) {
        await user.api.one('createServices', { body: { name } })
        const body = { image: 'hello', scale_to_zero: { policy: 'on' }, service_group: { name } }
        await user.api.one('createInstances', { body })
      }
      api.nodes.calls.length = 0
      api.nodes.fails = new NodeUnavailable('silent')
      const query = { name: names.join(',') }
      const entries = await user.api.call('explainServices', { query })
      assert.deepEqual(
        entries.map(({ instances }) => instances.length),
        [1, 1],
      )
      assert.deepEqual(api.nodes.calls, ['awake of 2'])
    })
  })

  describe('of certificates', () => {
    it('say of an uploaded one until when it is valid', async () => {
      const { pem, pkey } = await makeTestCertificate({ subject: 'CN=example.com', names: ['example.com'] })
      const body = { name: 'mine', cn: 'example.com', chain: pem, pkey }
      const { uuid } = await user.api.one('createCertificates', { body })
      const entry = await user.api.one('explainCertificates', { object: 'mine' })
      assertShows(entry, {
        uuid,
        name: 'mine',
        state: 'valid',
        common_name: 'example.com',
        origin: 'uploaded',
      })
      assert.match(entry.now, /^mine was uploaded for example\.com, and is valid until /)
      assert.deepEqual(entry.attempts, [])
      assert.equal(`${entry.text}\n`, await roost('cert', 'explain', uuid))
    })

    it('tell the attempts to get one, what was seen, and what to do', async () => {
      const body = { services: [{ port: 443 }], domains: [{ name: 'www.example.org.' }] }
      const { domains } = await user.api.one('createServices', { body })
      const { uuid, name } = domains[0]!.certificate!
      const number = await addAttempt(api.database, uuid, { authority: 'Test CA' })
      const problem = {
        type: 'urn:ietf:params:acme:error:dns',
        detail: 'NXDOMAIN',
        status: 400,
        inner: 'hidden',
      }
      await endAttempt(
        api.database,
        { uuid, number: number! },
        { outcome: 'failed', failure: 'no address', problem },
      )
      const entry = await user.api.one('explainCertificates', { object: name })
      const [attempt] = entry.attempts
      assertShows(attempt!, {
        number: 1,
        authority: 'Test CA',
        outcome: 'failed',
        failure: 'no address',
        problem: { type: problem.type, detail: 'NXDOMAIN', status: 400 },
      })
      assert.ok(attempt!.to_do.length > 0)
      assert.equal(`${entry.text}\n`, await roost('cert', 'explain', uuid))
      assert.equal(await text(`/v1/certificates/${uuid}/explain`), await roost('cert', 'explain', uuid))
    })
  })

  describe('of volumes', () => {
    it('say what a volume is doing, and never confuse it with another one', async () => {
      const other = await (await api.addUser()).api.one('createVolumes', { body: { name: 'x', size_mb: 8 } })
      const { uuid } = await user.api.one('createVolumes', { body: { name: 'store', size_mb: 8 } })
      await readRows(api.database, {
        text: 'update volumes set name = $1 where uuid = $2',
        values: [uuid, other.uuid],
      })
      const entry = await user.api.one('explainVolumes', { object: uuid })
      assertShows(entry, {
        uuid,
        name: 'store',
        state: 'available',
        now: 'store is available: no instance has it.',
        host: 'local',
      })
      assert.equal(`${entry.text}\n`, await roost('explain', 'store'))
      assert.equal(await text('/v1/volumes/store/explain'), await roost('explain', 'store'))
    })
  })

  describe('of autoscale', () => {
    const scaled = async () => {
      const made = await user.api.one('createInstances', { body: { image: 'hello', service_group: {} } })
      const { uuid } = made.service_group!
      const policies = [{ name: 'grow', type: 'step', steps: [{ lower_bound: 500, adjustment: 1 }] }]
      await user.api.one('createAutoscale', { object: uuid, body: { master: { uuid: made.uuid }, policies } })
      return { uuid, master: made }
    }

    it('say how a service is scaled, as text and as data', async () => {
      const { uuid, master } = await scaled()
      const entry = await user.api.one('explainAutoscale', { object: uuid })
      assertShows(entry, { status: 'success', uuid, state: 'yes', note: undefined, leaving: [] })
      assert.deepEqual(
        entry.members.map((member) => [member.uuid, member.master, member.host]),
        [[master.uuid, true, 'local']],
      )
      assert.match(entry.text, /\npolicy grow, by cpu:\n {2}- lower bound 500 inclusive: \+1\n/)
      assert.equal(`${entry.text}\n`, await roost('autoscale', 'explain', uuid))
      const path = `/v1/services/${uuid}/autoscale/explain`
      assert.equal(await text(path), await roost('autoscale', 'explain', uuid))
    })

    it('say that the control plane does not answer, and what is recorded', async () => {
      const { uuid } = await scaled()
      api.autoscaleControl.faults.isAway = true
      const { note, text: told, members } = await user.api.one('explainAutoscale', { object: uuid })
      assert.equal(note, 'the control plane does not answer; this is what is recorded:')
      assert.equal(members.length, 1)
      assert.equal(`${told}\n`, await roost('autoscale', 'explain', uuid))
    })

    it('ask nobody about a service that is not configured', async () => {
      const { uuid } = await user.api.one('createServices', { body: {} })
      api.autoscaleControl.faults.isAway = true
      const entry = await user.api.one('explainAutoscale', { object: uuid })
      assertShows(entry, { state: 'no', note: undefined, size: 0, members: [], decisions: [] })
      assert.match(entry.now, /is not configured to be scaled$/)
    })
  })
})
