import assert from 'node:assert/strict'
import { dieBesideEachOther } from '../deaths.ts'
import { openCertificateCrashScene } from './crash-scene.ts'
import type { CertificateCrashScene } from './crash-scene.ts'

/**
 * Points in the order of the steps: activities, calls of the authority, and writes of what must not be lost.
 * The moment after one step is also the moment before the next one.
 */
const points = [
  'update certificates 1, after',
  'insert certificate_orders 1, after',
  'update certificate_orders 1, after',
  'orderCertificate 1, after',
  'insert acme_challenges 1, after',
  'transaction 2, after',
  'authority.prove 1, after',
  'proveCertificate 1, after',
  'authority.finalise 1, after',
  'finaliseCertificate 1, after',
  'authority.download 1, after',
  'delete certificate_orders 1, after',
  'update certificate_attempts 3, after',
  'installCertificate 1, after',
  'findRenewalAdvice 1, before',
] as const
/** An order whose answer was lost is known to nobody. The authority gives it up by itself. */
const unknownOrder = 'authority.open 1, after'
const atOnce = 5

describe('a requested certificate whose worker dies once, with -9,', function () {
  this.timeout(900_000)
  let scene: CertificateCrashScene
  let outcomes: ReadonlyMap<string, Promise<void>>
  before(async () => {
    scene = await openCertificateCrashScene()
    const deaths = [...points, unknownOrder].map((name) => ({ name, live: () => scene.liveThrough(name) }))
    outcomes = dieBesideEachOther(deaths, atOnce)
  })
  after(() => scene?.close())

  for (const point of [...points, unknownOrder]) {
    it(`at "${point}": is served in the end, with its key, after one attempt`, () => outcomes.get(point))
  }

  it('is issued once, and ordered once unless the answer to its order was lost', () => {
    assert.equal(scene.certificatesIssued(), points.length + 1)
    assert.equal(scene.ordersMade(), points.length + 2)
  })
})
