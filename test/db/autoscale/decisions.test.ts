import { strict as assert } from 'node:assert'
import type { Aligned } from '../../../src/db/autoscale/clones.ts'
import { keptDecisions, lastDecisions } from '../../../src/db/autoscale/decisions.ts'
import { json } from '../../../src/db/postgres-client.ts'
import { closedReport } from '../../../src/domain/autoscale/report.ts'
import { autoscaleRows, resize } from '../../support/autoscale-rows.ts'

describe('the decisions of autoscale', () => {
  const { database, newUser, scaled, align, clones, runs, db } = autoscaleRows()

  function done(aligned: Aligned) {
    assert.ok(aligned.closing === undefined, 'there is a configuration')
    return aligned
  }
  const decisions = async (service: { readonly uuid: string }) =>
    (await lastDecisions(database(), service.uuid)).map(({ report }) => report)

  it('are noted once per alignment, with names and sizes', async () => {
    const service = await scaled(await newUser())
    const { added } = done(await align(service, 3, { cause: resize }))
    for (const clone of await clones(service)) await runs(clone)
    const { retired } = done(await align(service, 2, { cause: { kind: 'align', target: 2, size: 3 } }))
    assert.deepEqual(await decisions(service), [
      {
        cause: { kind: 'align', target: 2, size: 3 },
        before: 3,
        after: 2,
        added: [],
        givenBack: retired.map(({ settings }) => settings.name),
      },
      { cause: resize, before: 1, after: 3, added: added.map(({ name }) => name), givenBack: [] },
    ])
  })

  it('are not noted if nothing was done', async () => {
    const service = await scaled(await newUser())
    await align(service, 1)
    assert.deepEqual(await decisions(service), [])
  })

  it('note a refusal that is repeated only once', async () => {
    const service = await scaled(await newUser({ instances: 2 }))
    for (let round = 0; round < 4; round++) await align(service, 5)
    const [refused, grew, ...others] = await decisions(service)
    assert.deepEqual([refused?.added, grew?.added.length, others], [[], 1, []])
    assert.equal(refused?.refusal, grew?.refusal)
  })

  it(`are the last ${keptDecisions} of each service`, async () => {
    const user = await newUser()
    const [service, other] = [await scaled(user), await scaled(user)]
    await align(other, 2)
    const row = { serviceUuid: service.uuid, report: json(closedReport({ after: 1, givenBack: [] })) }
    const tooMany = Array.from({ length: keptDecisions + 10 }, () => row)
    await db().insertInto('autoscaleDecisions').values(tooMany).execute()
    await align(service, 2, { cause: resize })
    const kept = await decisions(service)
    assert.equal(kept.length, keptDecisions)
    assert.deepEqual(kept[0]?.cause, resize)
    assert.equal((await decisions(other)).length, 1)
  })

  it('hold no secret of the master', async () => {
    const user = await newUser({ instances: 2 })
    const service = await scaled(user, {}, { env: { TOKEN: 'xyzzy-secret' }, args: ['xyzzy-argument'] })
    await align(service, 4)
    assert.doesNotMatch(JSON.stringify(await decisions(service)), /xyzzy/)
  })
})
