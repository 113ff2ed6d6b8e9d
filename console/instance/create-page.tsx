import { useEffect, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one, succeeded } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { requestCommand } from '../frame/command.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CheckField, TextField } from '../frame/form-fields.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { EnvironmentField, RestartField } from './fields.tsx'
import { emptyDraft, readDraft } from './new-instance.ts'
import type { Draft } from './new-instance.ts'
import { readSome } from './store.ts'

/** A form for a new instance, with the request that it sends. */
export function CreatePage(): VNode {
  const [draft, setDraft] = useState(emptyDraft)
  const images = useImages()
  const change = (part: Partial<Draft>): void => setDraft((was) => ({ ...was, ...part }))
  const reading = readDraft(draft)
  const body = reading.ok ? JSON.stringify(reading.request, undefined, 2) : '{"image": "…"}'
  return (
    <CreateForm
      title="Create an instance"
      back={addressOf('instances')}
      action="Create"
      busy="Creating …"
      label="the command that creates this instance"
      command={requestCommand('instances', body)}
      isRequest
      read={() => reading}
      send={async (request) => {
        const created = one(await api.POST('/v1/instances', { body: request }))
        // The page of the instance is to be there at once.
        await readSome([created.uuid])
        say(`${created.name} was created.`)
        return addressOf('instances', created.uuid)
      }}
      parts={(wrong) => (
        <>
          <Basics draft={draft} change={change} wrong={wrong} images={images} />
          <Publishing draft={draft} change={change} wrong={wrong} />
          <More draft={draft} change={change} wrong={wrong} />
        </>
      )}
    />
  )
}

interface PartProps {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
  /** The name of the field that is wrong. */
  readonly wrong: string | undefined
}

function Basics(props: PartProps & { readonly images: readonly string[] }): VNode {
  const { draft, change, wrong } = props
  return (
    <FormPart title="What runs">
      <TextField
        name="image"
        label="Image"
        hint="The name and tag of an image in the registry."
        value={draft.image}
        onChange={(image) => change({ image })}
        isWrong={wrong === 'image'}
        list="images"
        placeholder="hello:latest"
      />
      <datalist id="images">
        {props.images.map((image) => (
          <option key={image} value={image} />
        ))}
      </datalist>
      <div class="form-row">
        <TextField
          name="name"
          label="Name"
          hint="Absent: one is made up."
          value={draft.name}
          onChange={(name) => change({ name })}
          isWrong={wrong === 'name'}
        />
        <TextField
          name="memoryMb"
          label="Memory in MiB"
          hint="Its processor and memory are its own."
          value={draft.memoryMb}
          onChange={(memoryMb) => change({ memoryMb })}
          isWrong={wrong === 'memoryMb'}
          inputMode="numeric"
        />
      </div>
      <CheckField
        name="starts"
        label="Start it at once"
        isOn={draft.starts}
        onChange={(starts) => change({ starts })}
      />
    </FormPart>
  )
}

function Publishing({ draft, change, wrong }: PartProps): VNode {
  return (
    <FormPart title="Its public name">
      <CheckField
        name="isPublic"
        label="Give it a public name over TLS"
        hint="It gets a service of its own. Without one, only your other instances reach it."
        isOn={draft.isPublic}
        onChange={(isPublic) => change({ isPublic })}
      />
      {draft.isPublic && (
        <>
          <div class="form-row">
            <TextField
              name="domain"
              label="Public name"
              hint="Below the platform's domain, or your own with a dot at its end."
              value={draft.domain}
              onChange={(domain) => change({ domain })}
              isWrong={wrong === 'domain'}
              placeholder={draft.name}
            />
            <TextField
              name="port"
              label="Port of the application"
              hint="Where it listens for HTTP."
              value={draft.port}
              onChange={(port) => change({ port })}
              isWrong={wrong === 'port'}
              inputMode="numeric"
            />
          </div>
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
              onChange={(keepsMemory) => change({ keepsMemory })}
            />
          )}
        </>
      )}
    </FormPart>
  )
}

function More({ draft, change, wrong }: PartProps): VNode {
  return (
    <details class="card more" open={wrong === 'env'}>
      <summary>Arguments, environment, restarts</summary>
      <div class="form-part">
        <TextField
          name="args"
          label="Arguments"
          hint="Split at blanks outside quotes. Absent: those of the image."
          value={draft.args}
          onChange={(args) => change({ args })}
        />
        <EnvironmentField
          label="Environment"
          value={draft.env}
          onChange={(env) => change({ env })}
          isWrong={wrong === 'env'}
        />
        <RestartField value={draft.restart} onChange={(restart) => change({ restart })} />
      </div>
    </details>
  )
}

/** The tags of the images that the account may run. Without them a person can still write one. */
function useImages(): readonly string[] {
  const [images, setImages] = useState<readonly string[]>([])
  useEffect(() => {
    api.GET('/v1/images/list').then(
      (answer) => setImages(succeeded(answer).flatMap(({ tags }) => tags ?? [])),
      () => undefined,
    )
  }, [])
  return images
}
