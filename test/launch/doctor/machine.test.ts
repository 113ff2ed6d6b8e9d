import assert from 'node:assert/strict'
import { rootCheck } from '../../../src/launch/doctor/machine.ts'

describe("The doctor's look at who runs Roost", () => {
  it('is content with root', () => {
    assert.equal(rootCheck({ isRoot: true, vmEgress: true }).status, 'ok')
  })

  it('says what virtual machines lack without it', () => {
    const { status, detail, remedy } = rootCheck({ isRoot: false, vmEgress: false })
    assert.deepEqual([status, remedy], ['warning', 'sudo npm start'])
    assert.match(detail, /connect to nothing$/)
  })

  it('names the setting that asks for outbound access without root', () => {
    const { detail } = rootCheck({ isRoot: false, vmEgress: true })
    assert.match(detail, /connect to nothing, although ROOST_VM_EGRESS is on$/)
  })
})
