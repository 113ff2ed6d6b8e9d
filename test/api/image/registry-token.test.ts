import { strict as assert } from 'node:assert'
import { createRegistryTokens } from '../../../src/api/image/registry-tokens.ts'
import { createTokenAuthenticator } from '../../../src/db/account/authenticator.ts'
import { createToken } from '../../../src/db/account/tokens.ts'
import { TokenScope } from '../../../src/domain/account/token-scope.ts'
import type { TokenRights } from '../../../src/domain/account/token-scope.ts'
import { generateRegistrySigningKey, readRegistrySigningKey } from '../../../src/registry/signing-key.ts'
import { createRegistryTokenIssuer } from '../../../src/registry/token-issuer.ts'
import { startTestApi } from '../../support/api-server.ts'
import type { TestApi, TestUser } from '../../support/api-server.ts'

describe('GET /registry/token', () => {
  let api: TestApi
  let user: TestUser
  before(async () => {
    const key = readRegistrySigningKey(await generateRegistrySigningKey(Date.now()))
    api = await startTestApi({
      registry: (database) =>
        createRegistryTokens(createRegistryTokenIssuer(key), createTokenAuthenticator(database)),
    })
    user = await api.addUser()
  })
  after(() => api.close())

  const ask = (scopes: readonly string[], login?: { readonly user: string; readonly password: string }) => {
    const query = new URLSearchParams([
      ['service', 'roost-registry'],
      ...scopes.map((scope): [string, string] => ['scope', scope]),
    ])
    const basic = login && Buffer.from(`${login.user}:${login.password}`).toString('base64')
    return api.send({
      path: `/registry/token?${query.toString()}`,
      headers: basic === undefined ? {} : { authorization: `Basic ${basic}` },
    })
  }
  const grantsOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).access as readonly {
      readonly name: string
      readonly actions: readonly string[]
    }[]

  it('grants a user, by the token of the API, what is the user’s', async () => {
    const scopes = [
      `repository:${user.name}/app:pull,push`,
      'repository:official/hello:pull,push',
      'repository:other/app:pull',
    ]
    const answer = await ask(scopes, { user: user.name, password: user.token })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      grantsOf(answer.json.token).map(({ name, actions }) => [name, actions]),
      [
        [`${user.name}/app`, ['pull', 'push']],
        ['official/hello', ['pull']],
      ],
    )
  })

  it('grants nothing of users to a client that does not log in', async () => {
    const answer = await ask([`repository:${user.name}/app:pull`])
    assert.equal(answer.status, 200)
    assert.deepEqual(grantsOf(answer.json.token), [])
  })

  const rightsOfScopes: readonly [scopes: readonly TokenScope[], granted: readonly string[]][] = [
    [[TokenScope.Read], ['pull']],
    [[TokenScope.Operate], ['pull']],
    [[TokenScope.ImagesPush], ['pull', 'push', 'delete']],
    [[TokenScope.Metrics], []],
    [[TokenScope.Metrics, TokenScope.Read], ['pull']],
    [
      [TokenScope.Read, TokenScope.ImagesPush],
      ['pull', 'push', 'delete'],
    ],
  ]
  const granted = async (rights: TokenRights) => {
    const { token: password } = await createToken(api.database, { userUuid: user.uuid, rights })
    const scopes = ['app:pull,push,delete', 'app:*'].map((wished) => `repository:${user.name}/${wished}`)
    const official = 'repository:official/hello:pull,push'
    const answer = await ask([...scopes, official], { user: user.name, password })
    assert.equal(answer.status, 200, answer.text)
    return grantsOf(answer.json.token).map(({ actions }) => actions)
  }
  for (const [scopes, actions] of rightsOfScopes) {
    it(`grants a token with ${scopes.join(' and ')} ${actions.join(', ') || 'nothing of its user'}`, async () => {
      const own = actions.length === 0 ? [] : [actions, actions]
      assert.deepEqual(await granted({ scopes, services: null }), [...own, ['pull']])
    })
  }

  it('grants nothing of its user to a token that is limited to services', async () => {
    const scopes = [TokenScope.Operate]
    assert.deepEqual(await granted({ scopes, services: ['shop'] }), [['pull']])
  })

  it('answers 401 to a login with a token that has expired', async () => {
    const expiresAt = new Date(Date.now() - 1_000)
    const { token } = await createToken(api.database, { userUuid: user.uuid, expiresAt })
    assert.equal((await ask([], { user: user.name, password: token })).status, 401)
  })

  it('answers 401 to a wrong login', async () => {
    const answer = await ask([], { user: user.name, password: 'nonsense' })
    assert.equal(answer.status, 401)
    assert.match(String(answer.headers['www-authenticate']), /^Basic/)
    assert.equal(answer.json.status, 'error')
  })
})
