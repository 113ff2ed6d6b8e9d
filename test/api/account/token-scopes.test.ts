import { strict as assert } from 'node:assert'
import { identifiersOf } from '../../../src/contract/operation.ts'
import type { Operation } from '../../../src/contract/operation.ts'
import { operations } from '../../../src/contract/operations.ts'
import type { OperationId } from '../../../src/contract/operations.ts'
import { namesObjects } from '../../../src/contract/request/body.ts'
import { createToken } from '../../../src/db/account/tokens.ts'
import { TokenScope, tokenScopes } from '../../../src/domain/account/token-scope.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { RawAnswer, TestApi, TestUser } from '../../support/api-server.ts'
import { leastBody, nobody } from '../../support/least-request.ts'

const { Read, Operate, ImagesPush, Metrics } = TokenScope

/**
 * The scopes each of which permits an operation. Written by hand, and total: a new operation does not
 * compile until somebody has decided here, too, who may use it.
 */
const permitted: Readonly<Record<OperationId, readonly TokenScope[]>> = {
  createInstances: [Operate],
  getInstances: [Read, Operate],
  deleteInstances: [Operate],
  listInstances: [Read, Operate],
  startInstances: [Operate],
  updateInstances: [Operate],
  stopInstances: [Operate],
  suspendInstances: [Operate],
  moveInstances: [],
  waitInstances: [Read, Operate],
  getInstanceLogs: [Read, Operate],
  execInstances: [Operate],
  archiveInstances: [Operate],
  connectInstances: [Operate],
  getInstanceMetrics: [Read, Operate, Metrics],
  getInstanceUsage: [Read, Operate, Metrics],
  explainInstances: [Read, Operate],
  createServices: [Operate],
  getServices: [Read, Operate],
  updateServices: [Operate],
  createRollouts: [Operate],
  getRollouts: [Read, Operate],
  rollBackServices: [Operate],
  deleteServices: [Operate],
  listServices: [Read, Operate],
  explainServices: [Read, Operate],
  getServiceMetrics: [Read, Operate, Metrics],
  getServiceUsage: [Read, Operate, Metrics],
  createAutoscale: [Operate],
  getAutoscale: [Read, Operate],
  explainAutoscale: [Read, Operate],
  tryAutoscale: [Read, Operate],
  deleteAutoscale: [Operate],
  addAutoscalePolicies: [Operate],
  getAutoscalePolicies: [Read, Operate],
  deleteAutoscalePolicies: [Operate],
  createCertificates: [Operate],
  getCertificates: [Read, Operate],
  updateCertificates: [Operate],
  deleteCertificates: [Operate],
  listCertificates: [Read, Operate],
  explainCertificates: [Read, Operate],
  createVolumes: [Operate],
  getVolumes: [Read, Operate],
  deleteVolumes: [Operate],
  attachVolumes: [Operate],
  detachVolumes: [Operate],
  listVolumes: [Read, Operate],
  explainVolumes: [Read, Operate],
  createSchedules: [Operate],
  getSchedules: [Read, Operate],
  updateSchedules: [Operate],
  deleteSchedules: [Operate],
  listSchedules: [Read, Operate],
  triggerSchedules: [Operate],
  getScheduleRuns: [Read, Operate],
  explainSchedules: [Read, Operate],
  listImages: [Read, Operate, ImagesPush],
  getImages: [Read, Operate, ImagesPush],
  getQuotas: [Read, Operate],
  getUsers: [Read, Operate],
  createUsers: [],
  setUserQuotas: [],
  getInstallation: [Read, Operate, ImagesPush, Metrics],
  createTokens: [],
  getTokens: [],
  deleteTokens: [],
  listTokens: [],
  listEvents: [Read, Operate],
  followEvents: [Read, Operate],
  getHosts: [Read, Operate],
  explainHosts: [Read, Operate],
  getBalance: [Read, Operate],
  cordonHosts: [],
  uncordonHosts: [],
  drainHosts: [],
  labelHosts: [],
  inviteHosts: [],
  getHostInvitations: [Read, Operate],
  deleteHostInvitations: [],
  deleteHosts: [],
}

describe('a token with one scope', () => {
  let api: TestApi
  let user: TestUser
  let service: string
  const tokens = new Map<TokenScope, string>()
  before(async () => {
    api = await startTestApi()
    user = await api.addUser({ admin: true })
    const made = await user.api.one('createInstances', { body: { image: 'hello', service_group: {} } })
    service = made.service_group!.uuid
    await user.api.one('createAutoscale', { object: service, body: { master: { uuid: made.uuid } } })
    for (const scope of tokenScopes) {
      const rights = { scopes: [scope], services: null }
      tokens.set(scope, (await createToken(api.database, { userUuid: user.uuid, rights })).token)
    }
  })
  after(() => api.close())

  /**
   * Sends a request that is in order. If it names an object, there is no such object, so nothing changes.
   */
  function send(operation: Operation, token: string, { local = false } = {}): Promise<RawAnswer> {
    const by = identifiersOf(operation).includes('name') ? 'name' : 'uuid'
    const named = namesObjects(operation) && !local ? { [by]: nobody[by] } : {}
    return api.send({
      method: operation.method,
      path: (local ? operation.localPath! : operation.path)
        .replace('{owner}', service)
        .replace('{object}', operation.id === 'getQuotas' ? user.name : nobody[by]),
      token,
      headers: { accept: 'application/json' },
      body: { ...leastBody(operation), ...named },
    })
  }

  function assertForbidden({ status, json }: RawAnswer, sentence: RegExp): void {
    assert.equal(status, 403)
    assert.deepEqual([json.status, json.errors.length, json.errors[0].error], ['error', 1, 14])
    assert.match(json.message, sentence)
    assert.ok(!('data' in json))
  }

  for (const operation of Object.values(operations) as readonly Operation[]) {
    const allowed = permitted[operation.id as OperationId]
    for (const scope of tokenScopes) {
      const may = allowed.includes(scope)
      it(`${may ? 'may' : 'may not'} use ${operation.id} if the scope is ${scope}`, async () => {
        for (const local of operation.localPath === undefined ? [false] : [false, true]) {
          const answer = await send(operation, tokens.get(scope)!, { local })
          // The SDK in Go reads a policy that does not exist from the status, so this one is no entry.
          const accepted = local && operation.id === 'getAutoscalePolicies' ? 404 : 200
          if (may) assert.equal(answer.status, accepted, answer.text)
          else assertForbidden(answer, new RegExp(`^This token has the scope '${scope}', but this needs `))
        }
      })
    }

    it(`may use ${operation.id} if it has all rights instead`, async () => {
      assert.equal((await send(operation, user.token)).status, 200)
    })
  }

  it('is told what it has, what is needed and what to do', async () => {
    const stop = await send(operations.stopInstances, tokens.get(Metrics)!)
    assert.equal(
      stop.json.message,
      "This token has the scope 'metrics', but this needs the scope 'operate'; ask the owner of the account for a token " +
        'that has it',
    )
    const images = await send(operations.listImages, tokens.get(Metrics)!)
    assert.match(images.json.message, /needs the scope 'read' or 'images:push'; /)
    const own = await send(operations.listTokens, tokens.get(Operate)!)
    assert.match(own.json.message, /needs all rights; /)
  })

  it('is refused before anything else of the request is looked at', async () => {
    const token = tokens.get(Read)!
    const wrong = { method: 'DELETE', path: '/v1/instances?bogus=1', token, body: { bogus: true } }
    assertForbidden(await api.send(wrong), /needs the scope 'operate'/)
  })

  it('may scrape the metrics and delete nothing if the scope is metrics', async () => {
    const { uuid } = await user.api.one('createInstances', { body: { image: 'hello' } })
    const token = tokens.get(Metrics)!
    const scraped = await api.send({ path: '/v1/instances/metrics', token })
    assert.deepEqual([scraped.status, scraped.text.includes(uuid)], [200, true])
    const head = await api.send({ method: 'HEAD', path: '/v1/instances', token })
    assert.equal(head.status, 403)
    for (const path of ['/v1/instances', `/v1/instances/${uuid}`]) {
      const body = path.endsWith(uuid) ? {} : { body: { uuid } }
      assertForbidden(await api.send({ method: 'DELETE', path, token, ...body }), /needs the scope 'operate'/)
    }
    assert.equal((await user.api.one('getInstances', { object: uuid })).state, 'stopped')
  })
})

describe('a token with several scopes', () => {
  it('may do what any one of them permits, and is told all of them', async () => {
    const api = await startTestApi()
    try {
      const user = await api.addUser()
      const rights = { scopes: [Metrics, ImagesPush], services: null }
      const { token } = await createToken(api.database, { userUuid: user.uuid, rights })
      const get = (path: string) => api.send({ path, token })
      assert.equal((await get('/v1/instances/metrics')).status, 200)
      assert.equal((await get('/v1/images/list')).status, 200)
      const refused = await get('/v1/instances')
      assert.match(refused.json.message, /^This token has the scopes 'metrics', 'images:push', but /)
    } finally {
      await api.close()
    }
  })
})
