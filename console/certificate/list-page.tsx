import type { VNode } from 'preact'
import { addressOf } from '../frame/place.ts'
import { ageOf, dayText } from '../frame/time.ts'
import { ObjectListPage } from '../object/list-page.tsx'
import type { ListKind } from '../object/list-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { certificates, certificateState } from './store.ts'
import type { Certificate } from './store.ts'

const kind: ListKind<Certificate> = {
  title: 'Certificates',
  plural: 'certificates',
  store: certificates,
  create: { address: addressOf('certificates', 'new'), label: 'Upload a certificate' },
  heads: { name: 'Name', state: 'State', about: 'Domain', amount: 'Valid until', since: 'Age' },
  cellsOf: (certificate) => ({
    key: certificate.uuid,
    name: certificate.name,
    address: addressOf('certificates', certificate.uuid),
    state: <StateMark {...certificateState(certificate)} />,
    about: certificate.common_name ?? '',
    amount: certificate.not_after === undefined ? '' : dayText(certificate.not_after),
    since: certificate.created_at === undefined ? '' : ageOf(certificate.created_at),
  }),
  empty: {
    title: 'No certificates yet',
    text:
      "Names below the platform's domain need none. For a domain of your own, the platform gets one by " +
      'itself as soon as a service has it. Upload one only if you have it already, or for a wildcard.',
    label: 'the command that uploads a certificate',
    command: () => "npx roost cert upload '*.example.com' --chain chain.pem --key key.pem",
  },
}

/** All certificates of the account. */
export const CertificatesPage = (): VNode => <ObjectListPage kind={kind} />
