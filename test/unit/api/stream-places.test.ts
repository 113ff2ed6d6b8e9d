import { strict as assert } from 'node:assert'
import { StreamPlaces } from '../../../src/api/stream-places.ts'

describe('the places for streams', () => {
  it('are free for one account as long as there are any, and again when a stream leaves', () => {
    const places = new StreamPlaces(2)
    const first = places.take('ann')
    assert.ok(first && places.take('ann'))
    assert.equal(places.take('ann'), undefined)
    first.leave()
    assert.ok(places.take('ann'))
  })

  it('are taken from the account with the most for one that has fewer, the newest first', () => {
    const places = new StreamPlaces(3)
    const ann = [places.take('ann'), places.take('ann'), places.take('ann')]
    assert.ok(places.take('bob'))
    assert.deepEqual(
      ann.map((place) => place?.signal.aborted),
      [false, false, true],
    )
  })

  it('are not taken from an account that would then have fewer than the other', () => {
    const places = new StreamPlaces(3)
    const streams = [places.take('ann'), places.take('ann'), places.take('bob')]
    assert.equal(places.take('bob'), undefined)
    assert.equal(places.take('ann'), undefined)
    assert.ok(streams.every((place) => place?.signal.aborted === false))
    assert.equal(new StreamPlaces(0).take('ann'), undefined)
  })

  it('count a stream once, however often it leaves', () => {
    const places = new StreamPlaces(1)
    const first = places.take('ann')
    first?.leave()
    first?.leave()
    assert.ok(places.take('bob'))
    assert.equal(places.take('carl'), undefined)
  })
})
