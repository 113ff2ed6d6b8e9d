import { computed } from '@preact/signals'
import { succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { CertificateState } from '../../src/domain/service/handler.ts'
import { api } from '../frame/api.ts'
import { Mood } from '../instance/mood.ts'
import { ObjectStore } from '../object/store.ts'

export type Certificate = Entry<'GetCertificatesAnswer'>

export const certificates = new ObjectStore<Certificate>({
  read: async (signal) => succeeded(await api.GET('/v1/certificates', { signal })),
  // A service that comes or goes uses other certificates.
  concerns: ({ object: { type } }) => type === 'certificate' || type === 'service',
})

export const certificateByUuid = computed(
  () => new Map(certificates.all.value.map((certificate) => [certificate.uuid, certificate])),
)

const states: Readonly<Record<CertificateState, readonly [mood: Mood, word: string]>> = {
  [CertificateState.Pending]: [Mood.Moves, 'Pending'],
  [CertificateState.Valid]: [Mood.Runs, 'Valid'],
  [CertificateState.Error]: [Mood.Fails, 'Failed'],
}

export function certificateState({ state = CertificateState.Pending }: Certificate) {
  const [mood, word] = states[state]
  return { mood, word }
}
