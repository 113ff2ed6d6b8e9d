import type { CertificateLife } from '../../src/domain/certificate/lifecycle.ts'
import { createLifeRecorder } from '../life-recorder.ts'
import type { LifeRecorder } from '../life-recorder.ts'
import { rowWrites } from '../row-writes.ts'

export function createCertificateRecorder(of: {
  readonly certificateUuid: string
  readonly recorded: number
  readonly onDone: () => void
  /** There is no row any more. */
  readonly onGone: () => void
}): LifeRecorder<CertificateLife> {
  const { certificateUuid } = of
  return createLifeRecorder({
    ...of,
    async write({ revision, state, attempt, nextAtMs, failure }) {
      const record = {
        state,
        attempt,
        ...(nextAtMs !== undefined && { nextAtMs }),
        ...(failure !== undefined && { failure }),
      }
      if (!(await rowWrites.recordCertificate({ certificateUuid, revision, record }))) of.onGone()
    },
  })
}
