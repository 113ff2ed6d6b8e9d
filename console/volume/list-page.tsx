import type { VNode } from 'preact'
import { addressOf } from '../frame/place.ts'
import { ageOf } from '../frame/time.ts'
import { ObjectListPage } from '../object/list-page.tsx'
import type { ListKind } from '../object/list-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { volumes, volumeState } from './store.ts'
import type { Volume } from './store.ts'

const kind: ListKind<Volume> = {
  title: 'Volumes',
  plural: 'volumes',
  store: volumes,
  create: { address: addressOf('volumes', 'new'), label: 'Create a volume' },
  heads: { name: 'Name', state: 'State', about: 'Used by', amount: 'Size', since: 'Age' },
  cellsOf: (volume) => ({
    key: volume.uuid,
    name: volume.name,
    address: addressOf('volumes', volume.uuid),
    state: <StateMark {...volumeState(volume)} />,
    about: (volume.attached_to ?? []).map(({ name }) => name).join(', '),
    amount: `${volume.size_mb} MiB`,
    since: volume.created_at === undefined ? '' : ageOf(volume.created_at),
  }),
  empty: {
    title: 'No volumes yet',
    text:
      'A volume keeps data that outlives its instance. Create one, then attach it to a stopped instance; it ' +
      'is mounted at the next start.',
    label: 'the command that creates a volume',
    command: () => 'npx roost volume create data --size 1G',
  },
}

/** All volumes of the account. */
export const VolumesPage = (): VNode => <ObjectListPage kind={kind} />
