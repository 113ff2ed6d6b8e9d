import { strict as assert } from 'node:assert'
import {
  RightsFlaw,
  TokenScope,
  findRightsFlaw,
  noScopeSuffices,
  permits,
  tokenScopes,
} from '../../../src/domain/account/token-scope.ts'

const { Read, Operate, ImagesPush, Metrics } = TokenScope

/** For each scope of a token, those needs that it meets. */
const met: Readonly<Record<TokenScope, readonly TokenScope[]>> = {
  [Read]: [Read, Metrics],
  [Operate]: [Operate, Read, Metrics],
  [ImagesPush]: [ImagesPush],
  [Metrics]: [Metrics],
}

function subsetsOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  return all.reduce<readonly (readonly T[])[]>(
    (subsets, one) => [...subsets, ...subsets.map((subset) => [...subset, one])],
    [[]],
  )
}

const subsets = subsetsOf(tokenScopes)

describe('the scopes of a token', () => {
  it('permit what any one of them permits, if that is enough', () => {
    assert.equal(subsets.length, 16)
    for (const scopes of subsets) {
      for (const sufficient of subsets) {
        const expected = scopes.flatMap((scope) => met[scope]).some((scope) => sufficient.includes(scope))
        assert.equal(permits(scopes, sufficient), expected, `${scopes.join()} for ${sufficient.join()}`)
      }
    }
  })

  it('permit, all together, nothing for which no scope is enough', () => {
    assert.equal(permits(tokenScopes, noScopeSuffices), false)
  })

  it('are not needed by a token with all rights', () => {
    for (const sufficient of subsets) assert.equal(permits(null, sufficient), true)
  })

  it('can be limited to services, but for images, and all rights can not', () => {
    for (const scopes of [null, ...subsets]) {
      assert.equal(findRightsFlaw({ scopes, services: null }), undefined)
      const flaw = findRightsFlaw({ scopes, services: ['shop'] })
      if (scopes === null) assert.equal(flaw, RightsFlaw.LimitedWithoutScopes)
      else assert.equal(flaw, scopes.includes(ImagesPush) ? RightsFlaw.LimitedPush : undefined)
    }
  })
})
