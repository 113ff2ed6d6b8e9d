import assert from 'node:assert/strict'
import { HostFailure } from '../../../src/domain/instance/host-work.ts'
import { asHostStartError, HostStartError } from '../../../src/host/instance/host-start-error.ts'
import { VmmError } from '../../../src/host/vmm/vmm.ts'

const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })

describe('why a host could not start an instance', () => {
  it('is a full host if its kernel said so, at any depth of causes', () => {
    for (const error of [full, new VmmError('BootFailed', 'the VM could not be started', { cause: full })]) {
      const { failure, message, final } = asHostStartError(error)
      assert.equal(failure, HostFailure.HostFull)
      assert.match(message, /^the host has no room left: /)
      assert.equal(final, false)
    }
  })

  it('is the failure that was thrown, and a failed boot for an unknown error', () => {
    const known = new HostStartError(HostFailure.UnknownInstance, 'deleted')
    assert.equal(asHostStartError(known), known)
    assert.equal(
      asHostStartError(new VmmError('ImageUnusable', 'no command')).failure,
      HostFailure.ImageUnusable,
    )
    assert.equal(asHostStartError(new Error('unforeseen')).failure, HostFailure.BootFailed)
  })
})
