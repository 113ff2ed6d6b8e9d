import { strict as assert } from 'node:assert'
import { UserEventKind } from '../../../src/domain/event/user-event-kind.ts'
import { decideCertificate, newCertificateLife } from '../../../src/domain/certificate/lifecycle.ts'
import type { CertificateLife } from '../../../src/domain/certificate/lifecycle.ts'
import { certificateNews } from '../../../src/domain/certificate/news.ts'
import { CertificateState } from '../../../src/domain/service/handler.ts'

const dayMs = 86_400_000
const nowMs = 1_000 * dayMs
const validity = { notBeforeMs: nowMs, notAfterMs: nowMs + 90 * dayMs }

type Event = Parameters<typeof decideCertificate>[1]
type Context = Parameters<typeof decideCertificate>[2]

function told(before: CertificateLife, event: Event, context: Context) {
  const after = decideCertificate(before, event, context)
  return certificateNews(before, event, after).map(({ kind, asker, why }) => ({ kind, by: asker.by, why }))
}

const at = { nowMs, spread: 0.5 }
const orders: CertificateLife = decideCertificate(newCertificateLife, { kind: 'begin' }, at)
const failed = { kind: 'step-failed', step: 'order', verdict: 'failed', reason: 'no such name' } as const

describe('the news of a certificate', () => {
  it('tell the first attempt, and that it was issued', () => {
    assert.deepEqual(told(newCertificateLife, { kind: 'begin' }, at), [
      { kind: UserEventKind.CertificateAttempt, by: 'platform', why: 'attempt 1 of 8 begins' },
    ])
    const finalised: CertificateLife = { ...orders, step: 'install' }
    assert.deepEqual(told(finalised, { kind: 'installed', validity }, at), [
      {
        kind: UserEventKind.CertificateInstalled,
        by: 'platform',
        why: 'the authority issued it, valid until 1972-12-26T00:00:00.000Z',
      },
    ])
  })

  it('tell what failed, and when it is tried again, or that it is not', () => {
    const [first] = told(orders, failed, at)
    assert.equal(first?.kind, UserEventKind.CertificateFailure)
    assert.match(first.why, /^no such name; it is tried again at 1972-09-27T00:0\d:/)
    const [last] = told({ ...orders, attempt: 8 }, failed, at)
    assert.equal(last?.why, 'no such name; nothing is tried again by itself')
  })

  it('tell a renewal, and that it was renewed', () => {
    const valid: CertificateLife = {
      state: CertificateState.Valid,
      attempt: 0,
      nextAtMs: nowMs,
      validity,
      revision: 4,
    }
    assert.deepEqual(told(valid, { kind: 'tick' }, at), [
      {
        kind: UserEventKind.CertificateAttempt,
        by: 'platform',
        why: 'its renewal is due: attempt 1 begins',
      },
    ])
    const later = { ...validity, notAfterMs: validity.notAfterMs + 60 * dayMs }
    const { nextAtMs: _due, ...underWay } = valid
    const renews: CertificateLife = { ...underWay, step: 'install', attempt: 1 }
    const [renewed] = told(renews, { kind: 'installed', validity: later }, at)
    assert.match(renewed!.why, /^the authority renewed it, /)
  })

  it('tell that somebody asked to try again', () => {
    const givenUp: CertificateLife = { state: CertificateState.Error, attempt: 8, failure: 'no', revision: 9 }
    assert.deepEqual(told(givenUp, { kind: 'retry' }, at), [
      { kind: UserEventKind.CertificateState, by: 'operator', why: 'somebody asked to try again' },
    ])
  })
})
