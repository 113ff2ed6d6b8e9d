import { computed, signal } from '@preact/signals'
import { place, setQuery } from '../frame/place.ts'
import { moodOf, moods } from './mood.ts'
import type { Instance } from './mood.ts'
import { instances } from './store.ts'

/** What of the instances the list shows, and in which order. It is in the page's address. */
export const Order = { Name: 'name', State: 'state', Since: 'since' } as const
export type Order = (typeof Order)[keyof typeof Order]

export const search = computed(() => place.value.query.get('q') ?? '')
export const wantedMood = computed(() => moods.find((mood) => mood === place.value.query.get('state')))
export const order = computed<Order>(
  () => Object.values(Order).find((one) => one === place.value.query.get('by')) ?? Order.Name,
)

/** The UUIDs of the instances that are selected for an action. */
export const selected = signal<ReadonlySet<string>>(new Set())

export const shown = computed<readonly Instance[]>(() => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  const mood = wantedMood.value
  const found = [...instances.value.values()].filter(
    (instance) =>
      (mood === undefined || moodOf(instance) === mood) && words.every((word) => hasWord(instance, word)),
  )
  return found.sort(comparisons[order.value])
})

/** The selected instances that still exist. */
export const chosen = computed<readonly Instance[]>(() =>
  [...selected.value].flatMap((uuid) => instances.value.get(uuid) ?? []),
)

export function changeQuery(name: 'q' | 'state' | 'by', value: string | undefined): void {
  const query = new URLSearchParams(place.value.query)
  if (value === undefined || value === '') query.delete(name)
  else query.set(name, value)
  setQuery(query)
}

export function toggle(uuid: string): void {
  const next = new Set(selected.value)
  if (!next.delete(uuid)) next.add(uuid)
  selected.value = next
}

/** Selects all instances that are shown, or none if all are selected. */
export function toggleAll(): void {
  const all = shown.value.every(({ uuid }) => selected.value.has(uuid))
  selected.value = new Set(all ? [] : shown.value.map(({ uuid }) => uuid))
}

export function sinceOf(instance: Instance): string | undefined {
  return instance.state === 'running'
    ? instance.started_at
    : (instance.stopped_at ?? instance.started_at ?? instance.created_at)
}

/** The image without its digest, which is the same for every reader of a list. */
export function imageName(instance: Instance): string {
  return (instance.image ?? '').replace(/@sha256:[0-9a-f]+$/, '')
}

export function addressText(instance: Instance): string {
  return instance.service_group?.domains[0]?.fqdn ?? ''
}

function hasWord(instance: Instance, word: string): boolean {
  return (
    instance.name.includes(word) ||
    imageName(instance).includes(word) ||
    addressText(instance).includes(word) ||
    instance.uuid.startsWith(word) ||
    instance.private_ip === word
  )
}

const comparisons: Readonly<Record<Order, (one: Instance, other: Instance) => number>> = {
  [Order.Name]: byName,
  [Order.State]: (one, other) =>
    moods.indexOf(moodOf(one)) - moods.indexOf(moodOf(other)) || byName(one, other),
  [Order.Since]: (one, other) => compare(sinceOf(other) ?? '', sinceOf(one) ?? '') || byName(one, other),
}

function byName(one: Instance, other: Instance): number {
  return compare(one.name, other.name)
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
