import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { allActions, grantScope, maxScopes, parseScopes } from '../../../src/registry/registry-scope.ts'
import type { RegistryAction, RegistryUser } from '../../../src/registry/registry-scope.ts'

const scope = (name: string, ...actions: string[]) => ({ type: 'repository', name, actions })
const ann: RegistryUser = { name: 'ann', admin: false, actions: allActions }
const root: RegistryUser = { name: 'root', admin: true, actions: allActions }
const all = ['pull', 'push', 'delete']
const withActions = (user: RegistryUser, ...actions: RegistryAction[]) => ({ ...user, actions })

describe('scopes of the registry', () => {
  it('are read from one parameter or several', () => {
    assert.deepEqual(
      parseScopes(['repository:ann/app:pull,push repository:official/hello:pull', 'registry:catalog:*']),
      [
        scope('ann/app', 'pull', 'push'),
        scope('official/hello', 'pull'),
        { type: 'registry', name: 'catalog', actions: ['*'] },
      ],
    )
  })

  it('may name a host with a port, and nonsense is left out', () => {
    assert.deepEqual(parseScopes(['repository:host:5000/ann/app:pull']), [scope('host:5000/ann/app', 'pull')])
    assert.deepEqual(
      parseScopes(['', 'repository', 'repository:x', ':::', `repository:${'a'.repeat(600)}:pull`]),
      [],
    )
  })

  it('are bounded in number', () => {
    const many = Array.from({ length: 100 }, (_, index) => `repository:ann/${index}:pull`)
    assert.equal(parseScopes(many).length, maxScopes)
  })

  const grants: [
    title: string,
    granted: readonly string[],
    wished: ReturnType<typeof scope>,
    user: RegistryUser | undefined,
  ][] = [
    ['a user does everything with their own', all, scope('ann/app', '*'), ann],
    ['a user gets no more than was asked for', ['push'], scope('ann/app', 'push', 'fly'), ann],
    ['a user pulls official images, no more', ['pull'], scope('official/x', ...all), ann],
    ['an administrator writes official images', all, scope('official/x', ...all), root],
    ["an administrator has nothing of another's", [], scope('ann/app', ...all), root],
    ['nobody pulls official images', ['pull'], scope('official/x', ...all), undefined],
    ["nobody has nothing of a user's", [], scope('ann/app', ...all), undefined],
    ['a name without a namespace is nobodys', [], scope('ann', ...all), ann],
    ['an empty name of a namespace is nobodys', [], scope('/app', ...all), { ...ann, name: '' }],
    ['a token that may only pull pulls', ['pull'], scope('ann/app', ...all), withActions(ann, 'pull')],
    ['a token that may do nothing has nothing of its user', [], scope('ann/app', ...all), withActions(ann)],
    [
      'a token that may do nothing pulls official images',
      ['pull'],
      scope('official/x', ...all),
      withActions(ann),
    ],
    [
      'an administrator’s token that may only pull writes no official image',
      ['pull'],
      scope('official/x', ...all),
      withActions(root, 'pull'),
    ],
    [
      'an administrator’s token that may do nothing pulls official images all the same',
      ['pull'],
      scope('official/x', ...all),
      withActions(root),
    ],
    ['the catalogue is for nobody', [], { type: 'registry', name: 'catalog', actions: ['*'] }, root],
  ]
  for (const [title, granted, wished, user] of grants) {
    it(title, () => assert.deepEqual(grantScope(wished, user).actions, granted))
  }

  it("never open another user's namespace", () => {
    const word = fc.stringMatching(/^[a-z0-9./:-]{0,12}$/)
    fc.assert(
      fc.property(word, word, fc.boolean(), (name, rest, admin) => {
        const wished = scope(`${name}/${rest}`, ...all)
        const namespace = wished.name.slice(0, wished.name.indexOf('/'))
        fc.pre(namespace !== 'ann' && namespace !== 'official')
        assert.deepEqual(grantScope(wished, { ...ann, admin }).actions, [])
      }),
    )
  })
})
