import { useEffect } from 'preact/hooks'
import type { VNode } from 'preact'
import { labelsText } from '../../src/domain/host/labels.ts'
import { vcpusPerProcessor } from '../../src/domain/host/placement.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { one } from '../../src/client/answers.ts'
import { who } from '../account/session.ts'
import { api } from '../frame/api.ts'
import { Command } from '../frame/command.tsx'
import { Fact } from '../frame/facts.tsx'
import { TrashIcon } from '../frame/icons.tsx'
import { NotFound } from '../frame/not-found.tsx'
import { addressOf, go } from '../frame/place.ts'
import { clockTime, fullTime } from '../frame/time.ts'
import { Mood } from '../instance/mood.ts'
import { HiddenPage } from '../object/list-page.tsx'
import { AbsentObject, AskingButton, attempt, ObjectPage } from '../object/object-page.tsx'
import { StateMark } from '../object/state-mark.tsx'
import { Why } from '../object/why.tsx'
import { Meter } from '../overview/meters.tsx'
import {
  heardText,
  hostByName,
  hosts,
  hostState,
  invitation,
  mayManageHosts,
  upgradeText,
  useHosts,
} from './store.ts'
import type { Host, Invitation } from './store.ts'

const back = { title: 'Hosts', address: addressOf('hosts') }

/** One host: whether it is heard, its room, what it has, and what can be done with it. */
export function HostPage({ uuid: name }: { readonly uuid: string }): VNode {
  return who.value?.admin === true ? <Known name={name} /> : <NotFound />
}

function Known({ name }: { readonly name: string }): VNode {
  useHosts()
  useEffect(
    () => () => {
      invitation.value = undefined
    },
    [],
  )
  if (who.value?.services !== null) return <HiddenPage title="Hosts" plural="hosts" />
  const host = hostByName.value.get(name)
  const { value: invited } = invitation
  if (invited?.name === name && host?.state !== 'live') return <InvitedPage invitation={invited} />
  if (host !== undefined) return <Present host={host} />
  const why = 'It was removed, or the machine has not joined yet.'
  return <AbsentObject word="host" why={why} back={back} store={hosts} />
}

/** What the machine has to run that becomes this host. Once it is heard, the host takes the place of this. */
function InvitedPage({ invitation: invited }: { readonly invitation: Invitation }): VNode {
  const { name, address, token, expires_at: expiresAt } = invited
  return (
    <ObjectPage
      name={name}
      back={back}
      state={<StateMark word="Invited" mood={Mood.Moves} isFilled />}
      actions={
        <RemoveButton
          name={name}
          label="Take back"
          title={`Take the invitation of ${name} back?`}
          text="Its line does not work any more."
        />
      }
    >
      <section class="card" aria-labelledby="line">
        <div class="card-head">
          <h2 id="line">Run this on the new machine</h2>
        </div>
        <div class="card-body apart">
          <p>As root, in a checkout of Roost:</p>
          <Command label="the line for the new machine" text={`npx roost join ${address} ${token}`} />
          <p class="soft">
            It is good for one machine and for an hour, until {clockTime(expiresAt)}. Copy it now: it is shown
            this once, and whoever has it can join.
          </p>
          <p class="soft">This page shows the host as soon as it is heard.</p>
        </div>
      </section>
    </ObjectPage>
  )
}

function Present({ host }: { readonly host: Host }): VNode {
  return (
    <ObjectPage
      name={host.name}
      back={back}
      state={<StateMark {...hostState(host)} isFilled />}
      actions={mayManageHosts() ? <Actions host={host} /> : undefined}
    >
      <Why explanation={host} problem={undefined} />
      <Room host={host} />
      <section class="card" aria-label="Facts">
        <dl class="facts card-body">
          <Fact label="Roles">{host.roles.join(', ') || 'none'}</Fact>
          <Fact label="Labels">{labelsText(host.labels) || 'none'}</Fact>
          <Fact label="Instances">{instancesText(host)}</Fact>
          <Fact label="Heard">
            <span title={fullTime(host.heard_at)}>{heardText(host)}</span>
          </Fact>
          {host.cordoned_at !== undefined && <Fact label="Cordoned">{fullTime(host.cordoned_at)}</Fact>}
          {host.drain !== undefined && <Fact label="To move">{host.drain.to_move}</Fact>}
          <Fact label="Version">{host.version}</Fact>
          {host.upgrade !== undefined && <Fact label="Upgrade">{upgradeText(host.upgrade)}</Fact>}
          <Fact label="Processors">{host.cpus ?? 'not known'}</Fact>
          <Fact label="Runs VMs by">{host.accelerator}</Fact>
          <Fact label="Network">
            <span class="mono small">{host.subnet}</span>
          </Fact>
          <Fact label="Address of its agent">
            <span class="mono small">{host.agent_url}</span>
          </Fact>
        </dl>
      </section>
    </ObjectPage>
  )
}

function Room({ host }: { readonly host: Host }): VNode {
  const { cpus, volumes } = host
  return (
    <section class="card" aria-labelledby="room">
      <div class="card-head">
        <h2 id="room">Room</h2>
      </div>
      <dl class="card-body meters">
        <Meter label="Memory of VMs" unit="MiB" used={host.used_memory_mb} of={host.memory_mb} />
        <Meter
          label="Memory if all are awake"
          unit="MiB"
          used={host.promised_memory_mb}
          of={host.memory_mb}
        />
        <Meter
          label={`vCPUs, ${vcpusPerProcessor} for each processor`}
          unit=""
          used={host.promised_vcpus}
          of={cpus === undefined ? undefined : cpus * vcpusPerProcessor}
        />
        <Meter label={`Volumes (${volumes})`} unit="MiB" used={host.promised_volume_mb} of={host.volume_mb} />
      </dl>
    </section>
  )
}

function Actions({ host }: { readonly host: Host }): VNode {
  const { name, cordoned_at: cordonedAt, drain: drained } = host
  return (
    <>
      {drained === undefined && (
        <AskingButton
          label="Drain"
          title={`Empty ${name}?`}
          text="Its instances move to other hosts, with their memory, their volumes and their addresses. Nothing new is placed there."
          isMild
          onConfirm={() => void drain(name)}
        />
      )}
      {cordonedAt === undefined ? (
        <AskingButton
          label="Cordon"
          title={`Cordon ${name}?`}
          text="No new instances and volumes are placed there from then on. What it has goes on, and restarts, wakes and starts there as before."
          isMild
          onConfirm={() => void cordon(name)}
        />
      ) : (
        <AskingButton
          label="Uncordon"
          title={`Uncordon ${name}?`}
          text={
            drained === undefined
              ? 'New instances and volumes are placed there again, as long as they fit.'
              : 'It is not emptied any more, and new instances and volumes are placed there again. What has moved stays where it is.'
          }
          isMild
          onConfirm={() => void uncordon(name)}
        />
      )}
      <RemoveButton
        name={name}
        label="Remove"
        title={`Remove ${name}?`}
        text="It is locked out, and only a new invitation lets the machine join again. A host that has instances or volumes is not removed."
      />
    </>
  )
}

function RemoveButton(props: {
  readonly name: string
  readonly label: string
  readonly title: string
  readonly text: string
}): VNode {
  const { name, label, title, text } = props
  return (
    <AskingButton
      label={label}
      icon={<TrashIcon />}
      title={title}
      text={text}
      onConfirm={() => void remove(name)}
    />
  )
}

async function cordon(name: string): Promise<void> {
  await attempt(
    async () => one(await api.PUT('/v1/hosts/{object}/cordon', { params: { path: { object: name } } })),
    `${name} takes no new instances.`,
  )
  hosts.refresh()
}

async function drain(name: string): Promise<void> {
  await attempt(
    async () => one(await api.PUT('/v1/hosts/{object}/drain', { params: { path: { object: name } } })),
    `${name} is being emptied.`,
  )
  hosts.refresh()
}

async function uncordon(name: string): Promise<void> {
  await attempt(
    async () => one(await api.PUT('/v1/hosts/{object}/uncordon', { params: { path: { object: name } } })),
    `${name} takes new instances again.`,
  )
  hosts.refresh()
}

async function remove(name: string): Promise<void> {
  const isDone = await attempt(
    async () => one(await api.DELETE('/v1/hosts/{object}', { params: { path: { object: name } } })),
    `${name} was removed.`,
  )
  if (isDone) go(back.address)
  hosts.refresh()
}

function instancesText({ instances }: Host): string {
  const counted = Object.values(InstanceState).flatMap((state) => {
    const count = instances[state] ?? 0
    return count === 0 ? [] : [`${count} ${state}`]
  })
  return counted.length === 0 ? 'none' : counted.join(', ')
}
