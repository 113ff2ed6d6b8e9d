import { computed, signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { isUnderWay } from '../../src/domain/host/upgrade.ts'
import { who } from '../account/session.ts'
import { useShown } from '../event/on-demand.ts'
import { api } from '../frame/api.ts'
import { ageOf, fullTime, presentMs } from '../frame/time.ts'
import { Mood } from '../instance/mood.ts'
import { ObjectStore } from '../object/store.ts'

/** A host with the sentences that explain it. */
export type Host = Entry<'GetHostsAnswer'> & Pick<Entry<'ExplainHostsAnswer'>, 'now' | 'next' | 'failure'>

type HostUpgrade = NonNullable<Host['upgrade']>

/** All hosts of the installation. */
export const hosts = new ObjectStore<Host>({
  read: async (signal) => (who.value?.admin === true ? await readHosts(signal) : []),
  concerns: ({ object }) => object.type === 'host',
})

export const hostByName = computed(() => new Map(hosts.all.value.map((host) => [host.name, host])))

async function readHosts(signal: AbortSignal): Promise<readonly Host[]> {
  const [all, explained] = await Promise.all([
    api.GET('/v1/hosts', { signal }),
    api.GET('/v1/hosts/explain', { signal }),
  ])
  const byName = new Map(succeeded(explained).map((one) => [one.name, one]))
  return succeeded(all).map((host) => {
    const { now = '', next = '', failure } = byName.get(host.name) ?? {}
    return { ...host, now, next, ...(failure !== undefined && { failure }) }
  })
}

export type Invitation = Entry<'InviteHostsAnswer'>

/** The invitation that was made last, until its page is left. Its token can not be read again. */
export const invitation = signal<Invitation | undefined>(undefined)

const readEveryMs = 5_000

/** Reads the hosts again and again while a page shows them, because events tell of their upgrades alone. */
export function useHosts(): void {
  useShown(hosts)
  useEffect(() => {
    const timer = setInterval(() => hosts.refresh(), readEveryMs)
    return () => clearInterval(timer)
  }, [])
}

/** Whether this session may invite, cordon and remove hosts. Only an administrator's with all rights may. */
export function mayManageHosts(): boolean {
  return who.value?.admin === true && who.value.scopes === null
}

const stateWords: Readonly<Record<Host['state'], readonly [word: string, mood: Mood]>> = {
  live: ['Live', Mood.Runs],
  silent: ['Silent', Mood.Fails],
  lost: ['Lost', Mood.Fails],
  released: ['Released', Mood.Rests],
}

export function hostState(host: Host): { word: string; mood: Mood } {
  const { state, cordoned_at: cordonedAt, drain } = host
  const [word, mood] = stateWords[state]
  if (state === 'live' && isUpgraded(host)) return { word: 'Upgrading', mood: Mood.Moves }
  if (drain !== undefined && state === 'live') return { word: 'Draining', mood: Mood.Moves }
  if (cordonedAt === undefined) return { word, mood }
  return state === 'live' ? { word: 'Cordoned', mood: Mood.Rests } : { word: `${word}, cordoned`, mood }
}

/** Whether an upgrade of its machine is under way. */
function isUpgraded({ upgrade }: Host): boolean {
  return upgrade !== undefined && isUnderWay(upgrade)
}

/** The upgrade of its machine that is under way, or the last one. */
export function upgradeText({ state, from, to, ended_at: endedAt, progress }: HostUpgrade): string {
  const versions = from === undefined ? `to ${to}` : `from ${from} to ${to}`
  const far = progress === undefined ? '' : `, ${progress.exchanged} of ${progress.parts} parts`
  const when = endedAt === undefined ? far : `, ${fullTime(endedAt)}`
  return `${versions}${upgradeWords[state]}${when}`
}

const upgradeWords: Readonly<Record<HostUpgrade['state'], string>> = {
  exchanging: '',
  'going-back': ', goes back',
  done: '',
  'went-back': ', went back',
  'cut-off': ', was cut off',
}

const justNowMs = 15_000

/** When it was heard. Live hosts are heard every second; for how long exactly says little. */
export function heardText({ heard_at: at }: Host, behind = ' ago'): string {
  return presentMs.value - new Date(at).getTime() < justNowMs ? 'just now' : `${ageOf(at)}${behind}`
}

export function instanceCount({ instances }: Host): number {
  return Object.values(instances).reduce((sum, count) => sum + count, 0)
}
