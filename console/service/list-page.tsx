import type { VNode } from 'preact'
import { addressOf } from '../frame/place.ts'
import { ageOf } from '../frame/time.ts'
import { ObjectListPage } from '../object/list-page.tsx'
import type { ListKind } from '../object/list-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { services, serviceState } from './store.ts'
import type { Service } from './store.ts'

const kind: ListKind<Service> = {
  title: 'Services',
  plural: 'services',
  store: services,
  create: { address: addressOf('services', 'new'), label: 'Create a service' },
  isForLimitedTokens: true,
  heads: { name: 'Name', state: 'Instances', about: 'Domains', amount: 'Ports', since: 'Age' },
  cellsOf: (service) => ({
    key: service.uuid,
    name: service.name,
    address: addressOf('services', service.uuid),
    state: <StateMark {...serviceState(service)} />,
    about: (service.domains ?? []).map(({ fqdn }) => fqdn).join(', '),
    amount: (service.services ?? []).map(({ port }) => port).join(', '),
    since: service.created_at === undefined ? '' : ageOf(service.created_at),
  }),
  empty: {
    title: 'Nothing is published yet',
    text:
      'A service gives instances a public name over TLS, shares requests among them, and wakes them when ' +
      'they sleep. Create one, then create an instance that belongs to it.',
    label: 'the command that creates a service',
    command: () => 'npx roost service create web --port 443:8080 --domain web',
  },
}

/** All services of the account. */
export const ServicesPage = (): VNode => <ObjectListPage kind={kind} />
