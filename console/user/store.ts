import { computed, signal } from '@preact/signals'
import { succeeded } from '../../src/client/answers.ts'
import type { Entry, Schemas } from '../../src/client/answers.ts'
import { who } from '../account/session.ts'
import { api } from '../frame/api.ts'
import { ObjectStore } from '../object/store.ts'

export type User = Entry<'GetUsersAnswer'>
export type QuotaChange = Schemas['SetUserQuotasParameters']

/** All accounts of the installation. No event tells an administrator of other accounts. */
export const users = new ObjectStore<User>({
  read: async (signal) =>
    who.value?.admin === true ? succeeded(await api.GET('/v1/users', { signal })) : [],
  concerns: () => false,
})

export const userByUuid = computed(() => new Map(users.all.value.map((user) => [user.uuid, user])))

/** The token of the account that was made last, until its page is left. It can not be read again. */
export const firstToken = signal<{ readonly uuid: string; readonly token: string } | undefined>(undefined)

/** Whether this session may make accounts and change quotas. Only an administrator's with all rights may. */
export function mayManageUsers(): boolean {
  return who.value?.admin === true && who.value.scopes === null
}
