import { strict as assert } from 'node:assert'
import { memoryBootOf, newRecord, withStart } from '../../../src/host/instance/record.ts'
import { StartKind } from '../../../src/domain/instance/start-report.ts'

describe('the record of a boot', () => {
  const nic = { instanceUuid: 'i', userUuid: 'u', ip: '10.64.0.2', mac: '12:b0:0a:40:00:02' }
  const first = { instanceUuid: 'i', boot: 5, hostBootId: 'h', nic, imageDigest: 'd' }
  const woken = { ...newRecord(first, undefined), memoryBoot: 4 }
  const times = { startedAtMs: 1, bootTimeUs: 1, vmmStartTimeUs: 1, vmmLoadTimeUs: 1, vmmReadyTimeUs: 1 }
  const known = (kind: StartKind) => withStart(woken, { boot: 5, kind, ...times })

  it('names the earlier boot whose memory goes on, and itself if it had to be booted', () => {
    assert.equal(memoryBootOf(known(StartKind.Restore)), 4)
    assert.equal(memoryBootOf(known(StartKind.Boot)), 5)
    assert.equal(memoryBootOf(known(StartKind.Template)), 5)
  })

  it('takes the time of the first socket later, and changes nothing else', () => {
    const later = withStart(known(StartKind.Boot), {
      boot: 5,
      kind: StartKind.Boot,
      ...times,
      bootTimeUs: 9,
      netTimeUs: 7,
    })
    assert.deepEqual([later.started?.netTimeUs, later.started?.bootTimeUs, later.startDue], [7, 1, true])
    assert.equal(withStart(later, undefined), later)
  })
})
