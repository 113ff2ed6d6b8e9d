import { computed } from '@preact/signals'
import { succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { UserEventKind } from '../../src/domain/event/user-event-kind.ts'
import { api } from '../frame/api.ts'
import { Mood, moodOf } from '../instance/mood.ts'
import type { Instance } from '../instance/mood.ts'
import { instances } from '../instance/store.ts'
import { ObjectStore } from '../object/store.ts'

export type Service = Entry<'GetServicesAnswer'>

/** The events that change which instances a service has. Their states come with the instances. */
const changesOfMembers: ReadonlySet<string> = new Set([
  UserEventKind.InstanceCreated,
  UserEventKind.InstanceDeleted,
  UserEventKind.InstanceRetired,
])

export const services = new ObjectStore<Service>({
  read: async (signal) => succeeded(await api.GET('/v1/services', { signal })),
  concerns: ({ kind, object: { type } }) =>
    type === 'service' || type === 'certificate' || type === 'autoscale' || changesOfMembers.has(kind),
})

export const serviceByUuid = computed(
  () => new Map(services.all.value.map((service) => [service.uuid, service])),
)

/** The instances that serve it, as far as they are known. */
export function servingInstances({ instances: attached = [] }: Service): readonly Instance[] {
  return attached.flatMap(({ uuid }) => instances.value.get(uuid) ?? [])
}

/** How a service is, by its instances: what serves now counts more than what could. */
const byWeight = [Mood.Runs, Mood.Moves, Mood.Sleeps, Mood.Fails, Mood.Rests]
const words: Readonly<Record<Mood, string>> = {
  [Mood.Runs]: 'running',
  [Mood.Moves]: 'changing',
  [Mood.Sleeps]: 'asleep',
  [Mood.Fails]: 'failing',
  [Mood.Rests]: 'stopped',
}

export interface ServiceState {
  readonly mood: Mood
  readonly word: string
}

export function serviceState(service: Service): ServiceState {
  const moods = servingInstances(service).map(moodOf)
  const mood = byWeight.find((one) => moods.includes(one))
  if (mood === undefined) return { mood: Mood.Rests, word: 'No instances' }
  const count = moods.filter((one) => one === mood).length
  return { mood, word: `${count} of ${moods.length} ${words[mood]}` }
}
