import type { VNode } from 'preact'
import { labelsText } from '../../src/domain/host/labels.ts'
import { vcpusPerProcessor } from '../../src/domain/host/placement.ts'
import { who } from '../account/session.ts'
import { NotFound } from '../frame/not-found.tsx'
import { addressOf } from '../frame/place.ts'
import { ObjectListPage } from '../object/list-page.tsx'
import type { ListKind } from '../object/list-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { heardText, hosts, hostState, instanceCount, mayManageHosts, useHosts } from './store.ts'
import type { Host } from './store.ts'

const readable: ListKind<Host> = {
  title: 'Hosts',
  plural: 'hosts',
  store: hosts,
  heads: {
    name: 'Name',
    state: 'State',
    about: 'Roles, instances, room, labels',
    amount: 'Version',
    since: 'Heard',
  },
  cellsOf: (host) => ({
    key: host.name,
    name: host.name,
    address: addressOf('hosts', host.name),
    state: <StateMark {...hostState(host)} />,
    about: hasText(host),
    amount: host.version,
    since: heardText(host, ''),
  }),
  empty: {
    title: 'There is no host yet',
    text: 'Instances run on hosts. This machine is the first one, and shows here once its agent has started.',
    label: 'the command that invites a machine',
    command: () => 'npx roost host invite',
  },
}
const kind: ListKind<Host> = {
  ...readable,
  create: { address: addressOf('hosts', 'new'), label: 'Add a machine' },
}

/** The hosts of the installation, for administrators. */
export function HostsPage(): VNode {
  return who.value?.admin === true ? <Hosts /> : <NotFound />
}

function Hosts(): VNode {
  useHosts()
  return mayManageHosts() ? <ObjectListPage kind={kind} /> : <ObjectListPage kind={readable} />
}

/** What a host has. Labels come last, because there may be many of them, and a row shows one line. */
function hasText(host: Host): string {
  const count = instanceCount(host)
  const { cpus, promised_vcpus: vcpus } = host
  const processors = cpus === undefined ? `${vcpus}` : `${vcpus} of ${cpus * vcpusPerProcessor}`
  const instances = `${count} ${count === 1 ? 'instance' : 'instances'}`
  const room = `${host.promised_memory_mb} of ${host.memory_mb} MiB, ${processors} ${processors === '1' ? 'vCPU' : 'vCPUs'}`
  return [...host.roles, instances, room, labelsText(host.labels)].filter(Boolean).join(', ')
}
