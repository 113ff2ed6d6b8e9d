import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import {
  certifies,
  commonNamesFor,
  isReserved,
  parseDomainName,
  reservedMetroLabels,
} from '../../../src/domain/service/domain-name.ts'

const metro = 'fra0.example.org'
const parse = (text: string) => parseDomainName(text, metro)
const ok = (fqdn: string, kind: 'metro' | 'custom') => ({ ok: true, domain: { fqdn, kind } })

describe('domain names', () => {
  const accepted: readonly (readonly [string, string, 'metro' | 'custom'])[] = [
    ['web', `web.${metro}`, 'metro'],
    ['WEB-1', `web-1.${metro}`, 'metro'],
    ['1st', `1st.${metro}`, 'metro'],
    ['a'.repeat(63), `${'a'.repeat(63)}.${metro}`, 'metro'],
    [`web.${metro}.`, `web.${metro}`, 'metro'],
    [`web.${metro}..`, `web.${metro}`, 'metro'],
    [`Web.FRA0.example.org.`, `web.${metro}`, 'metro'],
    [`${metro}.`, metro, 'metro'],
    ['www.example.com.', 'www.example.com', 'custom'],
    ['www.example.com..', 'www.example.com', 'custom'],
    ['EXAMPLE.com.', 'example.com', 'custom'],
    ['xn--bcher-kva.example.', 'xn--bcher-kva.example', 'custom'],
    ['*.example.com.', '*.example.com', 'custom'],
    ['example.org.', 'example.org', 'custom'],
    [`notfra0.example.org.`, 'notfra0.example.org', 'custom'],
    ['1.2.3.a4.', '1.2.3.a4', 'custom'],
  ]
  for (const [text, fqdn, kind] of accepted) {
    it(`'${text.slice(0, 40)}' is the ${kind} domain ${fqdn.slice(0, 40)}`, () => {
      assert.deepEqual(parse(text), ok(fqdn, kind))
    })
  }

  const refused: readonly (readonly [string, RegExp])[] = [
    ['', /empty label/],
    ['.', /empty label/],
    ['..', /empty label/],
    ['.web', /empty label/],
    ['a..b.', /empty label/],
    ['-web', /'-web' is no label/],
    ['web-', /'web-' is no label/],
    ['web_1', /no label/],
    ['wéb', /no label/],
    ['\u212Aelvin', /no label/],
    ['a b', /no label/],
    ['a'.repeat(64), /longer than 63/],
    [`${'a.'.repeat(126)}aa.`, /longer than 253/],
    ['a.b', /only one label/],
    [`a.b.${metro}.`, /only one label/],
    ['www.example.com', /only one label/],
    ['*', /wildcards below the metro domain/],
    [`*.${metro}.`, /wildcards below the metro domain/],
    [`*.a.${metro}.`, /only one label/],
    ['localhost.', /single label/],
    ['*.com.', /single label/],
    ['*.', /no label/],
    ['a.*.com.', /no label/],
    ['*.*.com.', /no label/],
    ['w*.example.com.', /no label/],
    ['192.0.2.1.', /last label is a number/],
  ]
  for (const [text, reason] of refused) {
    it(`'${text.slice(0, 40)}' is none`, () => {
      const parsed = parse(text)
      assert.ok(!parsed.ok, JSON.stringify(parsed))
      assert.match(parsed.reason, reason)
    })
  }

  it('that are accepted name the same when given again as fully qualified', () => {
    const nearly = fc.string({ unit: fc.constantFrom('a', 'B', '7', '-', '.', '*', '_', 'é'), maxLength: 20 })
    fc.assert(
      fc.property(nearly, (text) => {
        const parsed = parse(text)
        if (!parsed.ok) return
        assert.match(parsed.domain.fqdn, /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$/)
        assert.deepEqual(parse(`${parsed.domain.fqdn}.`), parsed)
        assert.equal(parsed.domain.kind === 'metro', `.${parsed.domain.fqdn}`.endsWith(`.${metro}`))
      }),
    )
  })

  it('of the platform are reserved, and only below the metro domain', () => {
    const reserved = (text: string) => {
      const parsed = parse(text)
      assert.ok(parsed.ok)
      return isReserved(parsed.domain, metro)
    }
    for (const label of reservedMetroLabels) {
      assert.ok(reserved(label) && reserved(`${label.toUpperCase()}.${metro}.`), label)
      assert.ok(!reserved(`${label}.example.com.`), label)
    }
    assert.ok(reserved(`${metro}.`))
    assert.ok(reserved('*.example.org.') && !reserved('*.www.example.org.') && !reserved('example.org.'))
    assert.ok(!reserved('web') && !reserved('apis') && !reserved('api-1'))
    for (const label of ['api', 'registry', 'www', 'wpad']) assert.ok(reservedMetroLabels.has(label))
  })
})

describe('certificates and domains', () => {
  it('fit by the same name, or by a wildcard of the parent', () => {
    assert.deepEqual(commonNamesFor('a.b.com'), ['a.b.com', '*.b.com'])
    assert.ok(certifies('a.b.com', 'a.b.com') && certifies('*.b.com', 'a.b.com'))
    assert.ok(!certifies('*.b.com', 'b.com') && !certifies('*.b.com', 'x.a.b.com'))
    assert.ok(!certifies('b.com', 'a.b.com') && !certifies('*.com', 'a.b.com'))
  })

  it('fit a wildcard only by the same wildcard', () => {
    assert.ok(certifies('*.b.com', '*.b.com'))
    assert.ok(!certifies('*.com', '*.b.com') && !certifies('*.a.b.com', '*.b.com'))
    assert.ok(!certifies('x.b.com', '*.b.com'))
  })
})
