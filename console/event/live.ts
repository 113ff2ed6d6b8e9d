import { signal } from '@preact/signals'
import { succeeded } from '../../src/client/answers.ts'
import { ApiFailure } from '../../src/client/api-failure.ts'
import { followEvents } from '../../src/client/event-stream.ts'
import type { UserEvent } from '../../src/client/event-stream.ts'
import { pause } from '../../src/client/pause.ts'
import { access, api, isSessionEnd } from '../frame/api.ts'

/** How the page hears what happens. */
export const Link = {
  Opening: 'opening',
  Live: 'live',
  /** The connection is lost; the page tries again by itself. */
  Lost: 'lost',
  /** The token may not see events, so the page reads everything again every few seconds. */
  Polling: 'polling',
} as const
export type Link = (typeof Link)[keyof typeof Link]

const mostRecent = 200
const pollMs = 5_000
const forbidden = 403
const firstRetryMs = 1_000
const longestRetryMs = 5_000

export const link = signal<Link>(Link.Opening)
/** The latest events of the account, the newest first. */
export const recentEvents = signal<readonly UserEvent[]>([])

/** What keeps itself up to date by events. */
export interface Follower {
  /** Reads everything. Called at the beginning, and when events may be missing. */
  load(signal: AbortSignal): Promise<void>
  heard(event: UserEvent): void
}

/** Keeps the followers up to date until the signal aborts. */
export async function keepLive(followers: readonly Follower[], ended: AbortSignal): Promise<void> {
  link.value = Link.Opening
  let retryMs = firstRetryMs
  while (!ended.aborted) {
    try {
      await follow(followers, ended)
    } catch (error) {
      if (ended.aborted || isSessionEnd(error)) return
      if (isForbidden(error)) {
        await poll(followers, ended)
        continue
      }
      link.value = Link.Lost
      await pause(retryMs, ended)
      retryMs = Math.min(2 * retryMs, longestRetryMs)
    }
  }
}

/** Reads all, then follows what happened since. The order matters: nothing falls between the two. */
async function follow(followers: readonly Follower[], ended: AbortSignal): Promise<void> {
  const latest = succeeded(
    await api.GET('/v1/events', { params: { query: { count: mostRecent } }, signal: ended }),
  )
  recentEvents.value = latest
  await loadAll(followers, ended)
  const until = new AbortController()
  const signal = AbortSignal.any([ended, until.signal])
  const onOpen = (): void => {
    link.value = Link.Live
  }
  try {
    for await (const message of followEvents(access, { after: latest[0]?.id ?? 0, signal, onOpen })) {
      if (message.kind === 'lost') {
        // The pauses of the stream grow; a page whose person waits for it tries sooner.
        link.value = Link.Lost
        throw message.failure
      }
      if (message.kind === 'gap') await loadAll(followers, ended)
      else hear(followers, message.event)
    }
  } finally {
    until.abort()
  }
}

function hear(followers: readonly Follower[], event: UserEvent): void {
  recentEvents.value = [event, ...recentEvents.value].slice(0, mostRecent)
  for (const follower of followers) follower.heard(event)
}

async function poll(followers: readonly Follower[], ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await loadAll(followers, ended)
    link.value = Link.Polling
    await pause(pollMs, ended)
  }
}

async function loadAll(followers: readonly Follower[], ended: AbortSignal): Promise<void> {
  await Promise.all(followers.map((follower) => follower.load(ended)))
}

function isForbidden(error: unknown): boolean {
  return error instanceof ApiFailure && error.facts.httpStatus === forbidden
}

export function forgetEvents(): void {
  recentEvents.value = []
}
