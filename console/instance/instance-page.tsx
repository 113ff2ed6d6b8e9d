import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { mayOperate } from '../account/session.ts'
import { BackIcon, MoonIcon, PlayIcon, StopIcon, TrashIcon } from '../frame/icons.tsx'
import { Confirmation } from '../frame/dialog.tsx'
import { Page } from '../frame/page.tsx'
import { addressOf, go } from '../frame/place.ts'
import { act, Action } from './actions.ts'
import { ChangePage } from './change-page.tsx'
import { InstanceLog } from './log-view.tsx'
import type { Instance } from './mood.ts'
import { InstanceNow } from './now-view.tsx'
import { InstanceSettings } from './settings-view.tsx'
import { StateSign } from './state-sign.tsx'
import { areInstancesKnown, instances } from './store.ts'
import { Timeline } from './timeline-view.tsx'
import { InstanceUsage } from './usage-view.tsx'

const views = [
  [undefined, 'Now'],
  ['timeline', 'Timeline'],
  ['usage', 'Usage'],
  ['log', 'Log'],
  ['settings', 'Settings'],
] as const

/** One instance: its state and why, what happened to it, what it uses, its log, its settings. */
export function InstancePage(props: { readonly uuid: string; readonly part: string | undefined }): VNode {
  const instance = instances.value.get(props.uuid)
  if (instance === undefined) return <Absent />
  if (props.part === 'change') return <ChangePage key={props.uuid} instance={instance} />
  const view = views.find(([part]) => part === props.part)?.[0]
  return (
    <Page
      title={instance.name}
      fills={view === 'log'}
      above={
        <a class="back small" href={addressOf('instances')}>
          <BackIcon />
          Instances
        </a>
      }
      beside={<StateSign instance={instance} isFilled />}
      actions={mayOperate.value ? <Actions instance={instance} /> : undefined}
    >
      <nav class="tabs" aria-label={`Views of ${instance.name}`}>
        {views.map(([part, word]) => (
          <a
            key={word}
            href={addressOf('instances', props.uuid, ...(part === undefined ? [] : [part]))}
            aria-current={view === part ? 'page' : undefined}
          >
            {word}
          </a>
        ))}
      </nav>
      {view === undefined && <InstanceNow instance={instance} />}
      {view === 'timeline' && <Timeline uuid={props.uuid} />}
      {view === 'usage' && <InstanceUsage instance={instance} />}
      {view === 'log' && <InstanceLog uuid={props.uuid} />}
      {view === 'settings' && <InstanceSettings instance={instance} />}
    </Page>
  )
}

function Absent(): VNode {
  if (!areInstancesKnown.value) return <div class="page" aria-busy="true" />
  return (
    <Page title="No such instance">
      <p class="soft">
        It was deleted, or it belongs to another account.{' '}
        <a href={addressOf('instances')}>See all instances</a>.
      </p>
    </Page>
  )
}

function Actions({ instance }: { readonly instance: Instance }): VNode {
  const [asks, setAsks] = useState(false)
  const { state } = instance
  const restarts = instance.restart?.next_at !== undefined
  const isUp = state !== 'stopped'
  return (
    <>
      {(!isUp || state === 'standby') && (
        <button type="button" class="button" onClick={() => void act(Action.Start, [instance])}>
          <PlayIcon />
          Start
        </button>
      )}
      {(isUp || restarts) && (
        <button
          type="button"
          class="button"
          disabled={state === 'stopping'}
          onClick={() => void act(Action.Stop, [instance])}
        >
          <StopIcon />
          Stop
        </button>
      )}
      {state === 'running' && (
        <button type="button" class="button" onClick={() => void act(Action.Suspend, [instance])}>
          <MoonIcon />
          Suspend
        </button>
      )}
      <button type="button" class="button danger" onClick={() => setAsks(true)}>
        <TrashIcon />
        Delete
      </button>
      {asks && (
        <Confirmation
          title={`Delete ${instance.name}?`}
          text="What runs is stopped by force, and what is not on a volume is lost. This can not be taken back."
          action="Delete"
          onConfirm={() => {
            void act(Action.Delete, [instance])
            go(addressOf('instances'))
          }}
          onClose={() => setAsks(false)}
        />
      )}
    </>
  )
}
