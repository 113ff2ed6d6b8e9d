import { entriesOf, isFailed, succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import type { paths } from '../../src/client/api-types.ts'
import { OnDemand } from '../event/on-demand.ts'
import { api, isSessionEnd, sentenceOf } from '../frame/api.ts'
import { say } from '../frame/toasts.tsx'

/** A service with its configuration, or without one. */
export type Configuration = Entry<'GetAutoscaleAnswer'>
export type Policy = NonNullable<Configuration['policies']>[number]
export type NewConfiguration = NonNullable<
  paths['/v1/services/{object}/autoscale']['post']['requestBody']
>['content']['application/json']

/** All services of the account by their UUIDs, with the configurations of autoscale. */
export const configurations = new OnDemand<ReadonlyMap<string, Configuration>>({
  async read(signal) {
    const all = succeeded(await api.GET('/v1/services/autoscale', { signal }))
    return new Map(all.map((one) => [one.uuid, one]))
  },
  concerns: ({ object }) => object.type === 'autoscale' || object.type === 'service',
})

export function isConfigured({ status }: Configuration): boolean {
  return status === 'success'
}

/** Deletes the configuration and says what came of it. Never throws. */
export async function deleteConfiguration({ uuid, name }: Configuration): Promise<boolean> {
  return await deleted(
    async () => entriesOf(await api.DELETE('/v1/services/autoscale', { body: [{ uuid }] })),
    `${name} has no autoscale any more.`,
  )
}

/** Deletes one policy and says what came of it. Never throws. */
export async function deletePolicy({ uuid, name }: Configuration, policy: string): Promise<void> {
  const path = { owner: uuid, object: policy }
  await deleted(
    async () =>
      entriesOf(await api.DELETE('/v1/services/{owner}/autoscale/policies/{object}', { params: { path } })),
    `Policy ${policy} of ${name} was deleted.`,
  )
}

async function deleted(send: () => Promise<readonly object[]>, done: string): Promise<boolean> {
  try {
    const [entry = {}] = await send()
    const isDone = !isFailed(entry)
    if (isDone) say(done)
    else say(entry.message, { isBad: true })
    configurations.refresh()
    return isDone
  } catch (error) {
    if (!isSessionEnd(error)) say(sentenceOf(error), { isBad: true })
    return false
  }
}
