import type { VNode } from 'preact'
import { who } from '../account/session.ts'
import { NotFound } from '../frame/not-found.tsx'
import { addressOf } from '../frame/place.ts'
import { ageOf } from '../frame/time.ts'
import { ObjectListPage } from '../object/list-page.tsx'
import type { ListKind } from '../object/list-page.tsx'
import { mayManageUsers, users } from './store.ts'
import type { User } from './store.ts'

const readable: ListKind<User> = {
  title: 'Users',
  plural: 'users',
  store: users,
  heads: { name: 'Name', state: 'Last use', about: 'Holds', amount: 'Tokens', since: 'Age' },
  cellsOf: (user) => ({
    key: user.uuid,
    name: user.name,
    address: addressOf('users', user.uuid),
    state: (
      <span class="soft">
        {user.last_used_at === undefined ? 'never' : `${ageOf(user.last_used_at)} ago`}
      </span>
    ),
    about: holdsText(user),
    amount: String(user.tokens),
    since: ageOf(user.created_at),
  }),
  empty: {
    title: 'No users yet',
    text: 'A user has instances, services, volumes and images of their own, and quotas that bound them.',
    label: 'the command that creates a user',
    command: () => 'npx roost admin user create ann',
  },
}
const kind: ListKind<User> = {
  ...readable,
  create: { address: addressOf('users', 'new'), label: 'Create a user' },
}

/** All accounts of the installation, for administrators. */
export function UsersPage(): VNode {
  if (who.value?.admin !== true) return <NotFound />
  return mayManageUsers() ? <ObjectListPage kind={kind} /> : <ObjectListPage kind={readable} />
}

function holdsText({ admin, used }: User): string {
  const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`
  const held = [
    counted(used.instances, 'instance'),
    `${used.live_memory_mb} MiB of memory`,
    counted(used.volumes, 'volume'),
  ]
  return [...(admin ? ['administrator'] : []), ...held].join(', ')
}
