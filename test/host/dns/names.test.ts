import assert from 'node:assert/strict'
import type { NameLine, PrivateName } from '../../../src/domain/service/route-feed.ts'
import { PrivateNames } from '../../../src/host/dns/private-names.ts'
import { nameOf, otherUser, user } from './names.ts'

describe('the private names of a host', () => {
  let names: PrivateNames
  beforeEach(() => {
    names = new PrivateNames()
  })
  const tell = (...lines: NameLine[]): void => lines.forEach((line) => names.apply(line))
  const is = (name: PrivateName): NameLine => ({ kind: 'name', name })
  const gone = (name: PrivateName): NameLine => ({ kind: 'gone', what: 'name', id: name.uuid })
  const block = (snapshot: boolean, revision: string, ...lines: NameLine[]): void =>
    tell({ kind: 'begin', snapshot }, ...lines, { kind: 'end', revision })
  const web = nameOf('web', '10.64.0.2')
  const db = nameOf('db', '10.64.0.3')

  it('a name exists as soon as it is told, and a deleted one is gone', () => {
    tell({ kind: 'begin', snapshot: false }, is(web))
    assert.equal(names.addressOf(user, 'web'), '10.64.0.2')
    tell(gone(web))
    assert.equal(names.addressOf(user, 'web'), undefined)
    assert.equal(names.nameAt(user, '10.64.0.2'), undefined)
  })

  it('the revision is that of the last complete block', () => {
    block(true, 'r1', is(web))
    tell({ kind: 'begin', snapshot: false }, is(db))
    assert.equal(names.revision, 'r1')
  })

  it('names that a block with everything leaves out are gone at its end', () => {
    names.remember([web, db])
    tell({ kind: 'begin', snapshot: true }, is(db))
    assert.equal(names.addressOf(user, 'web'), '10.64.0.2')
    tell({ kind: 'end', revision: 'r1' })
    assert.deepEqual(names.all(), [db])
    block(false, 'r2')
    assert.deepEqual(names.all(), [db])
  })

  it('a block that was cut off removes no name', () => {
    names.remember([web])
    tell(
      { kind: 'begin', snapshot: true },
      { kind: 'begin', snapshot: false },
      { kind: 'end', revision: 'r2' },
    )
    assert.deepEqual(names.all(), [web])
  })

  it('names on other hosts are known as long as the user has an instance here', () => {
    const far = { ...nameOf('far', '10.64.16.2'), isElsewhere: true }
    const strange = { ...nameOf('strange', '10.64.16.3', otherUser), isElsewhere: true }
    block(true, 'r1', is(web), is(far))
    assert.equal(names.addressOf(user, 'far'), far.privateIp)
    assert.deepEqual(names.elsewhere(), new Map([[far.privateIp, user]]))
    block(false, 'r2', is(strange))
    assert.equal(names.addressOf(otherUser, 'strange'), undefined)
    block(false, 'r3', gone(web))
    assert.deepEqual([names.all(), names.elsewhere()], [[], new Map()])
  })

  it('a renamed instance has one name, even if two instances exchange their names', () => {
    block(true, 'r1', is(web), is(db))
    block(false, 'r2', is({ ...web, name: 'db' }), is({ ...db, name: 'web' }))
    assert.equal(names.addressOf(user, 'db'), '10.64.0.2')
    assert.equal(names.addressOf(user, 'web'), '10.64.0.3')
    block(false, 'r3', is({ ...web, name: 'new' }))
    assert.equal(names.addressOf(user, 'db'), undefined)
  })

  it('a name that has a new holder survives the end of the old one, and so does an address', () => {
    const next = { ...web, uuid: 'the next' }
    block(true, 'r1', is(web))
    block(false, 'r2', is(next), gone(web))
    assert.equal(names.addressOf(user, 'web'), '10.64.0.2')
    assert.equal(names.nameAt(user, '10.64.0.2'), 'web')
  })

  it("users do not see each other's names", () => {
    block(true, 'r1', is(web), is(nameOf('web', '10.64.0.9', otherUser)))
    assert.equal(names.addressOf(user, 'web'), '10.64.0.2')
    assert.equal(names.addressOf(otherUser, 'web'), '10.64.0.9')
    assert.equal(names.nameAt(user, '10.64.0.9'), undefined)
  })

  it('the names above a name with dots exist as long as that name', () => {
    const dotted = nameOf('a.b.c', '10.64.0.4')
    block(true, 'r1', is(dotted), is({ ...web, name: 'x.c' }))
    assert.deepEqual(
      ['c', 'b.c', 'a.b.c'].map((name) => names.hasBelow(user, name)),
      [true, true, false],
    )
    block(false, 'r2', gone(dotted))
    assert.deepEqual(
      ['c', 'b.c'].map((name) => names.hasBelow(user, name)),
      [true, false],
    )
  })
})
