import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { keepsMemory } from '../../src/domain/instance/change.ts'
import { InstanceState } from '../../src/domain/instance/state.ts'
import { api } from '../frame/api.ts'
import { requestCommand } from '../frame/command.tsx'
import { CheckField, TextField } from '../frame/form-fields.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { draftOf, readChange } from './changed-instance.ts'
import type { ChangeDraft } from './changed-instance.ts'
import { EnvironmentField, RestartField } from './fields.tsx'
import type { Instance } from './mood.ts'
import { readSome } from './store.ts'

/** A form for what can be changed of an instance, with the request that it sends. */
export function ChangePage({ instance }: { readonly instance: Instance }): VNode {
  const { uuid, name } = instance
  const [draft, setDraft] = useState(() => draftOf(instance))
  const change = (part: Partial<ChangeDraft>): void => setDraft((was) => ({ ...was, ...part }))
  const reading = readChange(instance, draft)
  const body = JSON.stringify(reading.ok ? reading.request : {}, undefined, 2)
  return (
    <CreateForm
      title={`Change ${name}`}
      back={addressOf('instances', uuid, 'settings')}
      action="Change"
      label="the command that changes this instance"
      command={requestCommand(`instances/${name}`, body, 'PATCH')}
      isRequest
      read={() => readChange(instance, draft)}
      send={async (request) => {
        const params = { path: { object: uuid } }
        const changed = one(await api.PATCH('/v1/instances/{object}', { params, body: request }))
        await readSome([uuid])
        say(whatBecame(changed))
        return addressOf('instances', uuid, 'settings')
      }}
      parts={(wrong) => (
        <>
          <Launched draft={draft} change={change} wrong={wrong} />
          <AtOnce draft={draft} change={change} />
          {mayRestart(instance) && <Restart instance={instance} draft={draft} change={change} />}
        </>
      )}
    />
  )
}

interface PartProps {
  readonly draft: ChangeDraft
  readonly change: (part: Partial<ChangeDraft>) => void
}

function Launched({ draft, change, wrong }: PartProps & { readonly wrong: string | undefined }): VNode {
  return (
    <FormPart title="With what it starts">
      <TextField
        name="image"
        label="Image"
        hint="The name and tag of an image in the registry."
        value={draft.image}
        onChange={(image) => change({ image })}
      />
      <div class="form-row">
        <TextField
          name="memoryMb"
          label="Memory in MiB"
          hint="Its processor and memory are its own."
          value={draft.memoryMb}
          onChange={(memoryMb) => change({ memoryMb })}
          isWrong={wrong === 'memoryMb'}
          inputMode="numeric"
        />
        <TextField
          name="args"
          label="New arguments"
          hint="Split at blanks outside quotes. Absent: as before."
          value={draft.args}
          onChange={(args) => change({ args })}
        />
      </div>
      <EnvironmentField
        label="Variables to add or replace"
        value={draft.env}
        onChange={(env) => change({ env })}
        isWrong={wrong === 'env'}
      />
      <TextField
        name="unset"
        label="Variables to remove"
        hint="Their names, with blanks between."
        value={draft.unset}
        onChange={(unset) => change({ unset })}
      />
    </FormPart>
  )
}

function AtOnce({ draft, change }: PartProps): VNode {
  return (
    <FormPart title="What changes at once">
      <CheckField
        name="sleeps"
        label="Let it sleep when nobody asks for it"
        hint="The next request wakes it."
        isOn={draft.sleeps}
        onChange={(sleeps) => change({ sleeps })}
      />
      {draft.sleeps && (
        <CheckField
          name="keepsMemory"
          label="Keep its memory while it sleeps"
          hint="It goes on where it was, and wakes in about a tenth of a second."
          isOn={draft.keepsMemory}
          onChange={(keeps) => change({ keepsMemory: keeps })}
        />
      )}
      <RestartField value={draft.restart} onChange={(restart) => change({ restart })} />
      <TextField
        name="tags"
        label="Tags"
        hint="Words by which you find it, with blanks between."
        value={draft.tags}
        onChange={(tags) => change({ tags })}
      />
    </FormPart>
  )
}

function Restart({ instance, draft, change }: PartProps & { readonly instance: Instance }): VNode {
  const isAsleep = sleepsWithMemory(instance)
  return (
    <FormPart title="When it takes effect">
      <CheckField
        name="now"
        label={isAsleep ? 'Drop the memory that it has kept' : 'Restart it now'}
        hint={
          isAsleep
            ? 'The next wake has the changes. Without this it wakes as it was, and they wait.'
            : 'Image, memory, arguments and variables wait for a restart.'
        }
        isOn={draft.now}
        onChange={(now) => change({ now })}
      />
    </FormPart>
  )
}

function sleepsWithMemory({ state, snapshot }: Instance): boolean {
  return state !== undefined && keepsMemory({ state, snapshotUuid: snapshot?.uuid ?? null })
}

function mayRestart(instance: Instance): boolean {
  return instance.state === InstanceState.Running || sleepsWithMemory(instance)
}

function whatBecame(changed: {
  readonly name: string
  readonly needs_restart: readonly string[]
  readonly restarting: boolean
  readonly memory_dropped: boolean
}): string {
  const { name, needs_restart: waiting, restarting, memory_dropped: dropped } = changed
  if (restarting) return `${name} restarts with its changes.`
  if (dropped) return `${name} was changed, and the memory that it had kept is dropped.`
  return waiting.length === 0
    ? `${name} was changed.`
    : `${name} was changed; ${waiting.join(', ')} wait for a restart.`
}
