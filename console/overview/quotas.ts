import { signal } from '@preact/signals'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { ApiFailure } from '../../src/client/api-failure.ts'
import type { Follower } from '../event/live.ts'
import { api } from '../frame/api.ts'

/** How long after a change the quotas are read again, so that many changes cost one request. */
const collectMs = 1_000
const forbidden = 403

export type QuotaKey = keyof Entry<'GetQuotasAnswer'>['used']

export const quotas = signal<Entry<'GetQuotasAnswer'> | undefined>(undefined)

let timer: ReturnType<typeof setTimeout> | undefined

export const quotaFollower: Follower = {
  async load(signal) {
    try {
      quotas.value = one(await api.GET('/v1/users/quotas', { signal }))
    } catch (error) {
      // A token that is limited to services does not see the account's quotas.
      if (!(error instanceof ApiFailure) || error.facts.httpStatus !== forbidden) throw error
      quotas.value = undefined
    }
  },
  heard: () => {
    timer ??= setTimeout(() => {
      timer = undefined
      // If the API is away, the quotas are read again with everything else.
      quotaFollower.load(new AbortController().signal).catch(() => undefined)
    }, collectMs)
  },
}
