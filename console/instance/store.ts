import { computed, signal } from '@preact/signals'
import { isFailed, entriesOf, succeeded } from '../../src/client/answers.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'
import { UserEventKind } from '../../src/domain/event/user-event-kind.ts'
import type { Follower } from '../event/live.ts'
import { api } from '../frame/api.ts'
import { moodOf, moods } from './mood.ts'
import type { Instance, Mood } from './mood.ts'

/** How long changes are collected before they are read, so that many events cost few requests. */
const collectMs = 150
/** As many objects as one request may name. */
const mostPerRequest = 100
/** After this many changes at once, all instances are read instead of each that changed. */
const mostChanged = 1_000

/** All instances of the account by their UUIDs, in the order of their creation. */
export const instances = signal<ReadonlyMap<string, Instance>>(new Map())
/** Whether they were read since the sign-in. */
export const areInstancesKnown = signal(false)

export const moodCounts = computed(() => {
  const counts = Object.fromEntries(moods.map((mood) => [mood, 0])) as Record<Mood, number>
  for (const instance of instances.value.values()) counts[moodOf(instance)] += 1
  return counts
})

const changed = new Set<string>()
let reading = false

export const instanceFollower: Follower = {
  async load(signal) {
    changed.clear()
    const all = succeeded(await api.GET('/v1/instances', { signal }))
    instances.value = new Map(all.map((instance) => [instance.uuid, instance]))
    areInstancesKnown.value = true
  },
  heard: ({ kind, object }: UserEvent) => {
    if (object.type !== 'instance' || object.uuid === undefined) return
    if (kind === UserEventKind.InstanceDeleted || kind === UserEventKind.InstanceRemoved) remove(object.uuid)
    else markChanged([object.uuid])
  },
}

export function forgetInstances(): void {
  changed.clear()
  instances.value = new Map()
  areInstancesKnown.value = false
}

/** Reads these instances again. */
export function markChanged(uuids: readonly string[]): void {
  for (const uuid of uuids) changed.add(uuid)
  if (reading || changed.size === 0) return
  reading = true
  setTimeout(() => void readChanged(), collectMs)
}

export function remove(uuid: string): void {
  changed.delete(uuid)
  if (!instances.value.has(uuid)) return
  const next = new Map(instances.value)
  next.delete(uuid)
  instances.value = next
}

async function readChanged(): Promise<void> {
  const uuids = [...changed].slice(0, mostPerRequest)
  try {
    if (changed.size > mostChanged) await instanceFollower.load(new AbortController().signal)
    else await readSome(uuids)
  } catch {
    // The live link is lost too, then, and reads everything when it is back.
    changed.clear()
  } finally {
    reading = false
    markChanged([])
  }
}

/** Reads these instances, at most as many as one request may name. */
export async function readSome(uuids: readonly string[]): Promise<void> {
  for (const uuid of uuids) changed.delete(uuid)
  const answer = await api.GET('/v1/instances', { params: { query: { uuid: [...uuids] } } })
  const next = new Map(instances.value)
  for (const [index, entry] of entriesOf(answer).entries()) {
    if (isFailed(entry)) next.delete(uuids[index] ?? '')
    else next.set(entry.uuid, entry)
  }
  instances.value = next
}
