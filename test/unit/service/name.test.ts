import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { maxNameLength, parseObjectName } from '../../../src/domain/object-name.ts'
import { parseDomainName } from '../../../src/domain/service/domain-name.ts'
import {
  derivedLabel,
  generatedCertificateName,
  generatedServiceName,
} from '../../../src/domain/service/name.ts'

const suffix8 = fc.stringMatching(/^[a-z0-9]{8}$/)
const suffix5 = fc.stringMatching(/^[a-z0-9]{5}$/)
const label = fc.stringMatching(/^[a-z](-?[a-z0-9]){0,31}$/)
const objectName = fc
  .array(label, { minLength: 1, maxLength: 4 })
  .map((labels) => labels.join('.'))
  .filter((name) => name.length <= maxNameLength)
const domainLabel = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$/)

describe('generated names', () => {
  it('of services are two words and the suffix, whatever is picked', () => {
    assert.match(
      generatedServiceName(() => 0, 'abcd1234'),
      /^[a-z]+-[a-z]+-abcd1234$/,
    )
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), suffix8, (share, suffix) => {
        const name = generatedServiceName((below) => Math.floor(share * below), suffix)
        assert.match(name, new RegExp(`^[a-z]{3,8}-[a-z]{3,8}-${suffix}$`))
        assert.equal(parseObjectName(name), name)
        assert.ok(parseDomainName(name, 'metro.test').ok)
      }),
    )
  })

  it('of services do not repeat soon', () => {
    const all = new Set(
      Array.from({ length: 60 }, (_, one) => generatedServiceName((below) => one % below, 'x')),
    )
    assert.ok(all.size >= 60)
  })

  it('of derived domains are the name and the suffix as one label', () => {
    assert.equal(derivedLabel('web', 'abcd1234'), 'web-abcd1234')
    assert.equal(derivedLabel('a.b', 'abcd1234'), 'a-b-abcd1234')
    assert.equal(derivedLabel(`${'a'.repeat(53)}.b`, 'abcd1234'), `${'a'.repeat(53)}-abcd1234`)
    fc.assert(
      fc.property(objectName, suffix8, (name, suffix) => {
        const parsed = parseDomainName(derivedLabel(name, suffix), 'metro.test')
        assert.ok(parsed.ok && parsed.domain.kind === 'metro')
      }),
    )
  })

  it('of certificates are the domain and the suffix within the rules of names', () => {
    assert.equal(generatedCertificateName('www.example.com', 'abc12'), 'www.example.com-abc12')
    assert.equal(generatedCertificateName('1st.example.com', 'abc12'), 'st.example.com-abc12')
    assert.equal(generatedCertificateName('xn--a.com', 'abc12'), 'xn-a.com-abc12')
    assert.equal(generatedCertificateName('*.example.com', 'abc12'), 'example.com-abc12')
    assert.equal(generatedCertificateName('1.2.3', 'abc12'), 'certificate-abc12')
    fc.assert(
      fc.property(fc.array(domainLabel, { minLength: 2, maxLength: 6 }), suffix5, (labels, suffix) => {
        const name = generatedCertificateName(labels.join('.'), suffix)
        assert.equal(parseObjectName(name), name)
        assert.ok(name.endsWith(`-${suffix}`))
      }),
    )
  })
})
