import { useEffect } from 'preact/hooks'
import type { VNode } from 'preact'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { one } from '../../src/client/answers.ts'
import { who } from '../account/session.ts'
import { readable } from '../event/event-text.ts'
import { useShown } from '../event/on-demand.ts'
import { api } from '../frame/api.ts'
import { Command } from '../frame/command.tsx'
import { NotFound } from '../frame/not-found.tsx'
import { Page } from '../frame/page.tsx'
import { ageOf, fullTime, presentMs } from '../frame/time.ts'
import { Fact } from '../frame/facts.tsx'
import { Mood } from '../instance/mood.ts'
import { attempt } from '../object/object-page.tsx'
import { Meter } from '../overview/meters.tsx'
import { hosts } from './hosts.ts'
import type { Host } from './hosts.ts'

const readEveryMs = 5_000
const justNowMs = 15_000

/** The hosts of the installation, for administrators. */
export function HostsPage(): VNode {
  if (who.value?.admin !== true) return <NotFound />
  return (
    <Page title="Hosts">
      <Hosts />
    </Page>
  )
}

function Hosts(): VNode {
  useShown(hosts)
  useEffect(() => {
    const timer = setInterval(() => hosts.refresh(), readEveryMs)
    return () => clearInterval(timer)
  }, [])
  const { value: all } = hosts.value
  if (all === undefined) return <p class="soft">{hosts.problem.value ?? ' '}</p>
  if (all.length === 0) {
    return (
      <section class="card empty" aria-labelledby="no-hosts">
        <h2 id="no-hosts">There is no host yet</h2>
        <p class="soft">
          Instances run on hosts. A host joins by itself when its agent starts on a machine, and shows here
          then. The same list by the command line, where Roost is installed:
        </p>
        <Command label="the command that lists hosts" text="npx roost admin node list" />
      </section>
    )
  }
  return (
    <ul class="hosts">
      {all.map((host) => (
        <HostCard key={host.name} host={host} />
      ))}
    </ul>
  )
}

const stateMoods: Readonly<Record<Host['state'], readonly [word: string, mood: Mood]>> = {
  live: ['Live', Mood.Runs],
  silent: ['Silent', Mood.Fails],
  released: ['Released', Mood.Rests],
}

function HostCard({ host }: { readonly host: Host }): VNode {
  const [word, mood] = stateMoods[host.state]
  return (
    <li class="card host">
      <div class="card-head">
        <h2>{host.name}</h2>
        <span class="faint small" title={fullTime(host.heard_at)}>
          {heardText(host)}
        </span>
        <span class={`state filled ${mood}`}>
          <span class="dot" />
          {word}
        </span>
      </div>
      <div class="card-body host-body">
        <div class="host-words">
          {host.failure !== undefined && <p class="problem">{readable(host.failure)}</p>}
          <p>{readable(host.now)}</p>
          <p class="soft">Next: {readable(host.next)}</p>
        </div>
        <dl class="meters">
          <Meter label="Memory of VMs" unit="MiB" used={host.used_memory_mb} of={host.memory_mb} />
          <Meter label="If all are awake" unit="MiB" used={host.promised_memory_mb} of={host.memory_mb} />
          <Meter
            label={`Volumes (${host.volumes})`}
            unit="MiB"
            used={host.promised_volume_mb}
            of={host.volume_mb}
          />
        </dl>
        {who.value?.scopes === null && <Cordon host={host} />}
        <dl class="facts">
          <Fact label="Instances">{instancesText(host)}</Fact>
          <Fact label="Version">{host.version}</Fact>
          <Fact label="Runs VMs by">{host.accelerator}</Fact>
          <Fact label="Network">{host.subnet}</Fact>
          <Fact label="Address of its agent">
            <span class="mono small">{host.agent_url}</span>
          </Fact>
        </dl>
      </div>
    </li>
  )
}

/** Says whether new instances may come to the host. What is there goes on. */
function Cordon({ host: { name, cordoned_at: at } }: { readonly host: Host }): VNode {
  const isCordoned = at !== undefined
  const params = { path: { object: name } }
  const run = async (): Promise<void> => {
    const done = isCordoned ? `${name} takes new instances again.` : `${name} takes no new instances.`
    await attempt(
      async () =>
        one(
          isCordoned
            ? await api.PUT('/v1/hosts/{object}/uncordon', { params })
            : await api.PUT('/v1/hosts/{object}/cordon', { params }),
        ),
      done,
    )
    hosts.refresh()
  }
  return (
    <div class="actions">
      <button type="button" class="button" onClick={() => void run()}>
        {isCordoned ? 'Take new instances again' : 'Take no new instances'}
      </button>
      {isCordoned && <span class="soft small">cordoned {ageOf(at)} ago</span>}
    </div>
  )
}

function instancesText({ instances }: Host): string {
  const counted = Object.values(InstanceState).flatMap((state) => {
    const count = instances[state] ?? 0
    return count === 0 ? [] : [`${count} ${state}`]
  })
  return counted.length === 0 ? 'none' : counted.join(', ')
}

/** Hosts are heard every few seconds; for how long exactly says little. */
function heardText({ heard_at: at }: Host): string {
  return presentMs.value - new Date(at).getTime() < justNowMs ? 'heard just now' : `heard ${ageOf(at)} ago`
}
