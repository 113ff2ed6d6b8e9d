import assert from 'node:assert/strict'
import { openCertificateCrashScene } from './crash-scene.ts'
import type { CertificateCrashScene } from './crash-scene.ts'

/**
 * In the order of the steps: activities, calls of the authority, and writes of what must not be lost. After
 * one is before the next.
 */
const points = [
  'record-certificate, after',
  'ensure-order-key, after',
  'set-order-url, after',
  'orderCertificate, after',
  'put-challenges, after',
  'authority.prove, after',
  'proveCertificate, after',
  'authority.finalise, after',
  'finaliseCertificate, after',
  'authority.download, after',
  'install-certificate, after',
  'end-certificate-attempt, after',
  'installCertificate, after',
  'findRenewalAdvice, before',
] as const
/** Nobody can know of an order whose answer was lost: the authority gives it up by itself. */
const unknownOrder = 'authority.open, after'
/** Every death waits for a timeout, so many are died beside each other. */
const atOnce = 5

describe('a requested certificate whose worker dies once, with -9,', function () {
  this.timeout(900_000)
  let scene: CertificateCrashScene
  const outcomes = new Map<string, Promise<void>>()
  before(async () => {
    scene = await openCertificateCrashScene()
    const rest = [...points, unknownOrder].map((point) => {
      const outcome = Promise.withResolvers<void>()
      outcome.promise.catch(() => undefined)
      outcomes.set(point, outcome.promise)
      return async () => scene.liveThrough(point).then(outcome.resolve, outcome.reject)
    })
    const lane = async (): Promise<void> => {
      for (let one = rest.shift(); one !== undefined; one = rest.shift()) await one()
    }
    void Promise.all(Array.from({ length: atOnce }, lane))
  })
  after(() => scene?.close())

  for (const point of [...points, unknownOrder]) {
    it(`at "${point}": is there in the end, with its key, after one attempt`, () => outcomes.get(point))
  }

  it('is ordered once, and issued once', () => {
    assert.equal(scene.certificatesIssued(), points.length + 1)
    assert.equal(scene.ordersMade(), points.length + 2)
  })
})
