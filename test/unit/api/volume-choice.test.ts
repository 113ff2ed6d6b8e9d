import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import { volumeChoice, volumeChoiceProblems } from '../../../src/api/volume/choice.ts'
import { strictValidator } from '../../../src/contract/request/validators.ts'
import { instanceVolume } from '../../../src/contract/volume/requests.ts'
import { parseMountPath } from '../../../src/domain/volume/mount-path.ts'
import { defaultQuotaLimits } from '../../../src/domain/account/quotas.ts'

const validate = strictValidator(instanceVolume)

const volume = fc.record(
  {
    uuid: fc.constant('11111111-1111-4111-8111-111111111111'),
    name: fc.constant('data'),
    size_mb: fc.constantFrom(-1, 7, 8, 100, 20_480, 20_481),
    at: fc.constantFrom('/data', '/a/b/', 'data', '/', '/a:b', '/../x', '/proc'),
    readonly: fc.boolean(),
  },
  { requiredKeys: ['at'] },
)

describe('the volume of an instance', () => {
  it('is chosen exactly if no problem is found in the request, and every refusal is a sentence', () => {
    let chosen = 0
    fc.assert(
      fc.property(volume, fc.constantFrom(0, 2, undefined), (body, replicas) => {
        assert.deepEqual(validate(body), [])
        const request = { volumes: [body], ...(replicas === undefined ? {} : { replicas }) }
        const problems = volumeChoiceProblems(request, defaultQuotaLimits)
        for (const { httpStatus, message } of problems) {
          assert.equal(httpStatus, 400)
          assert.doesNotMatch(message, /[{}]|undefined/)
        }
        const ways = [body.uuid, body.name, body.size_mb].filter((way) => way !== undefined)
        const sizeFits = body.size_mb === undefined || (body.size_mb >= 8 && body.size_mb <= 20_480)
        const forOne = body.size_mb !== undefined || (replicas ?? 0) === 0
        const path = parseMountPath(body.at)
        assert.equal(problems.length === 0, ways.length === 1 && sizeFits && forOne && path.ok)
        if (problems.length > 0) return
        chosen++
        const choice = volumeChoice(request)
        assert.deepEqual(choice?.mount, { at: path.ok && path.at, readonly: body.readonly ?? false })
        assert.equal(choice && 'made' in choice, body.size_mb !== undefined)
      }),
      { numRuns: 8_000 },
    )
    assert.ok(chosen > 20, `only ${chosen} were chosen`)
  })

  it('is undefined if the request names no volume', () => {
    for (const request of [{}, { volumes: [] }]) {
      assert.equal(volumeChoice(request), undefined)
      assert.deepEqual(volumeChoiceProblems(request, defaultQuotaLimits), [])
    }
  })
})
