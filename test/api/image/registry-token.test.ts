import { strict as assert } from 'node:assert'
import { createRegistryTokens } from '../../../src/api/image/registry-tokens.ts'
import { createTokenAuthenticator } from '../../../src/db/account/tokens.ts'
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

  it('answers 401 to a wrong login', async () => {
    const answer = await ask([], { user: user.name, password: 'nonsense' })
    assert.equal(answer.status, 401)
    assert.match(String(answer.headers['www-authenticate']), /^Basic/)
    assert.equal(answer.json.status, 'error')
  })
})
