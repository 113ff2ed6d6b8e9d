import assert from 'node:assert/strict'
import { operations } from '../../../src/contract/operations.ts'
import type { OperationId } from '../../../src/contract/operations.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { makeTestCertificate } from '../../support/certificate-maker.ts'
import type { Entry } from '../../support/api-client.ts'
import { addNode } from '../../support/accounts.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { RawAnswer, TestApi, TestUser } from '../../support/api-server.ts'
import { settledEvents } from '../../support/settled-events.ts'

const nothing: readonly UserEventKind[] = []

/**
 * The events of the request to each operation. Written by hand, and total: a new operation does not compile
 * until somebody has decided here what it tells.
 */
const told: Readonly<Record<OperationId, readonly UserEventKind[]>> = {
  createInstances: [UserEventKind.InstanceCreated, UserEventKind.ServiceCreated, UserEventKind.VolumeCreated],
  startInstances: [UserEventKind.InstanceStart],
  stopInstances: [UserEventKind.InstanceStop],
  suspendInstances: [UserEventKind.InstanceSuspend],
  moveInstances: [UserEventKind.InstanceMove],
  updateInstances: [UserEventKind.InstanceChanged],
  deleteInstances: [UserEventKind.InstanceDeleted, UserEventKind.VolumeDeleted, UserEventKind.ServiceDeleted],
  createServices: [UserEventKind.ServiceCreated, UserEventKind.CertificateCreated],
  updateServices: [UserEventKind.ServiceChanged, UserEventKind.CertificateCreated],
  createRollouts: [UserEventKind.ServiceRollout, UserEventKind.InstanceCreated],
  rollBackServices: [UserEventKind.ServiceRollout],
  deleteServices: [UserEventKind.ServiceDeleted],
  createAutoscale: [UserEventKind.AutoscaleCreated],
  addAutoscalePolicies: [UserEventKind.AutoscalePolicies],
  deleteAutoscalePolicies: [UserEventKind.AutoscalePolicies],
  deleteAutoscale: [UserEventKind.AutoscaleDeleted],
  createCertificates: [UserEventKind.CertificateCreated],
  updateCertificates: [UserEventKind.CertificateInstalled],
  deleteCertificates: [UserEventKind.CertificateDeleted],
  createVolumes: [UserEventKind.VolumeCreated],
  attachVolumes: [UserEventKind.InstanceVolume],
  detachVolumes: [UserEventKind.InstanceVolume],
  deleteVolumes: [UserEventKind.VolumeDeleted],
  createSchedules: [UserEventKind.ScheduleCreated],
  updateSchedules: [UserEventKind.ScheduleChanged],
  deleteSchedules: [UserEventKind.ScheduleDeleted],
  createTokens: [UserEventKind.TokenCreated],
  deleteTokens: [UserEventKind.TokenRevoked],
  createUsers: [UserEventKind.AccountCreated, UserEventKind.TokenCreated],
  setUserQuotas: [UserEventKind.AccountQuotas],
  getInstances: nothing,
  listInstances: nothing,
  waitInstances: nothing,
  getInstanceLogs: nothing,
  execInstances: nothing,
  archiveInstances: nothing,
  connectInstances: nothing,
  getInstanceMetrics: nothing,
  getInstanceUsage: nothing,
  explainInstances: nothing,
  getServices: nothing,
  getServiceMetrics: nothing,
  getServiceUsage: nothing,
  listServices: nothing,
  explainServices: nothing,
  getAutoscale: nothing,
  getAutoscalePolicies: nothing,
  explainAutoscale: nothing,
  tryAutoscale: nothing,
  getCertificates: nothing,
  listCertificates: nothing,
  explainCertificates: nothing,
  getVolumes: nothing,
  listVolumes: nothing,
  explainVolumes: nothing,
  getRollouts: nothing,
  triggerSchedules: nothing,
  getSchedules: nothing,
  listSchedules: nothing,
  getScheduleRuns: nothing,
  explainSchedules: nothing,
  listImages: nothing,
  getImages: nothing,
  getQuotas: nothing,
  getUsers: nothing,
  getInstallation: nothing,
  getTokens: nothing,
  listTokens: nothing,
  listEvents: nothing,
  followEvents: nothing,
  getHosts: nothing,
  explainHosts: nothing,
  getBalance: nothing,
  cordonHosts: [UserEventKind.HostUse],
  uncordonHosts: [UserEventKind.HostUse],
  drainHosts: [UserEventKind.HostUse],
  labelHosts: nothing,
  inviteHosts: nothing,
  getHostInvitations: nothing,
  deleteHostInvitations: nothing,
  /** Only of one that is removed as lost. */
  deleteHosts: [UserEventKind.HostState],
}

/** Requests in an order in which each succeeds. */
const story: readonly (readonly [OperationId, object?, string?])[] = [
  [
    'createServices',
    {
      name: 'site',
      services: [{ port: 443, handlers: ['tls', 'http'] }],
      domains: [{ name: 'a.example.com.' }],
    },
  ],
  [
    'createInstances',
    {
      name: 'web',
      image: 'hello',
      service_group: { services: [{ port: 8443, handlers: ['tls'] }] },
      volumes: [{ size_mb: 64, at: '/data' }],
    },
  ],
  ['updateServices', { name: 'site', soft_limit: 2, add: { domains: [{ name: 'b.example.com.' }] } }],
  ['startInstances', { name: 'web' }],
  ['suspendInstances', { name: 'web' }],
  ['stopInstances', { name: 'web' }],
  ['updateInstances', { name: 'web', memory_mb: 256 }],
  ['createVolumes', { name: 'notes', size_mb: 64 }],
  ['createInstances', { name: 'plain', image: 'hello', service_group: { name: 'site' } }],
  ['attachVolumes', { name: 'notes', attach_to: { name: 'plain' }, at: '/data' }],
  ['detachVolumes', { name: 'notes' }],
  ['deleteVolumes', { name: 'notes' }],
  ['createAutoscale', { name: 'site', master: { name: 'plain' } }],
  [
    'addAutoscalePolicies',
    { name: 'grow', type: 'step', steps: [{ lower_bound: 500, adjustment: 1 }] },
    'site',
  ],
  ['deleteAutoscalePolicies', { name: 'grow' }, 'site'],
  ['deleteAutoscale', { name: 'site' }],
  ['createServices', { name: 'rolled', services: [{ port: 9443, handlers: ['tls'] }] }],
  ['createInstances', { name: 'old', image: 'hello', service_group: { name: 'rolled' } }],
  ['startInstances', { name: 'old' }],
  ['createRollouts', { name: 'rolled', env: { SECRET: 'hidden' } }],
  ['rollBackServices', { name: 'rolled' }],
  [
    'createSchedules',
    { name: 'nightly', cron: '@daily', action: { run: { image: 'hello', env: { SECRET: 'hidden' } } } },
  ],
  ['updateSchedules', { name: 'nightly', paused: true }],
  ['deleteSchedules', { name: 'nightly' }],
  ['deleteInstances', { name: 'web' }],
]

describe('an operation that changes something', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    api = await startTestApi()
    user = await api.addUser({ admin: true })
  })
  after(() => api.close())

  let requests = 0
  async function send(
    id: OperationId,
    body: object,
    owner = '',
  ): Promise<RawAnswer & { readonly requestId: string }> {
    const { method, path } = operations[id] as Operation
    const requestId = `request-${requests++}`
    const headers = { 'x-request-id': requestId }
    const answer = await api.send({
      method,
      path: path.replace('{owner}', owner),
      token: user.token,
      headers,
      body,
    })
    assert.deepEqual([answer.status, answer.json.status], [200, 'success'], `${id}: ${answer.text}`)
    return { ...answer, requestId }
  }

  /** The events of a request that the owner of a token sees. */
  async function toldOf(requestId: string, token: string) {
    await settledEvents(api.database)
    const { json } = await api.send({ path: `${operations.listEvents.path}?count=1000`, token })
    const events = json.data.events as readonly Entry<'listEvents'>[]
    return events.filter((event) => event.request_id === requestId)
  }

  const tried = new Set<OperationId>()
  async function tells(id: OperationId, body: object, owner?: string): Promise<RawAnswer> {
    const answer = await send(id, body, owner)
    // A new account has the events of its making itself.
    const reader = id === 'createUsers' ? answer.json.data.users[0].token : user.token
    const events = await toldOf(answer.requestId, reader)
    const kinds = new Set(events.map(({ kind }) => kind))
    for (const kind of kinds) assert.ok(told[id].includes(kind), `${id} tells ${kind}`)
    const main = told[id][0]
    assert.ok(main === undefined || kinds.has(main), `${id} tells ${[...kinds].join(', ')}`)
    for (const { by } of events) assert.equal(by.kind, 'token')
    tried.add(id)
    return answer
  }

  it('tells who asked for it, and in which request', async () => {
    const certificate = await makeTestCertificate({ subject: 'CN=example.com', names: ['example.com'] })
    for (const [id, body = {}, owner] of story) await tells(id, body, owner)
    const made = await tells('createCertificates', {
      cn: 'example.com',
      chain: certificate.pem,
      pkey: certificate.pkey,
    })
    const { uuid } = made.json.data.certificates[0]
    const renewed = await makeTestCertificate({ subject: 'CN=example.com', names: ['example.com'] })
    await tells('updateCertificates', { uuid, chain: renewed.pem, pkey: renewed.pkey })
    await tells('deleteCertificates', { uuid })
    const token = await tells('createTokens', { label: 'ci' })
    await tells('createUsers', { name: 'newcomer' })
    await tells('setUserQuotas', { name: user.name, hard: { instances: 50 } })
    await tells('deleteTokens', { uuid: token.json.data.tokens[0].uuid })
    await tells('deleteInstances', { name: 'plain' })
    await tells('deleteServices', { name: 'site' })
    await tells('createInstances', { name: 'free', image: 'hello' })
    await addNode(api.database, { id: 'h2' })
    for (const [id, meshKey] of [
      ['local', 'one'],
      ['h2', 'two'],
    ] as const)
      await api.database.db.updateTable('nodes').set({ meshKey }).where('id', '=', id).execute()
    await tells('moveInstances', { name: 'free', host: 'h2' })
    for (const id of ['drainHosts', 'cordonHosts', 'uncordonHosts'] as const) await tells(id, { name: 'h2' })
    await tells('deleteHosts', { name: 'h2', lost: true })
    const changing = (Object.keys(told) as OperationId[]).filter((id) => told[id].length > 0)
    assert.deepEqual(
      changing.filter((id) => !tried.has(id)),
      [],
    )
  })
})
