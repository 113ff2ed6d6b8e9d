import { useEffect, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one, succeeded } from '../../src/client/answers.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import { api, sentenceOf } from '../frame/api.ts'
import { apiAddress, Command } from '../frame/command.tsx'
import { Page } from '../frame/page.tsx'
import { addressOf, go } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { CheckField, TextField } from '../frame/form-fields.tsx'
import { emptyDraft, readDraft } from './new-instance.ts'
import type { Draft, NewInstance } from './new-instance.ts'
import { readSome } from './store.ts'

interface Problem {
  readonly field?: keyof Draft
  readonly text: string
}

/** A form for a new instance, with the request that it sends. */
export function CreatePage(): VNode {
  const [draft, setDraft] = useState(emptyDraft)
  const [problem, setProblem] = useState<Problem>()
  const [isBusy, setBusy] = useState(false)
  const images = useImages()
  const change = (part: Partial<Draft>): void => setDraft((was) => ({ ...was, ...part }))
  const submit = async (): Promise<void> => {
    const reading = readDraft(draft)
    if (!reading.ok) {
      setProblem({ field: reading.field, text: reading.problem })
      document.querySelector<HTMLElement>(`[name="${reading.field}"]`)?.focus()
      return
    }
    setBusy(true)
    setProblem(undefined)
    try {
      const created = one(await api.POST('/v1/instances', { body: reading.request }))
      // The page of the instance is to be there at once.
      await readSome([created.uuid])
      say(`${created.name} was created.`)
      go(addressOf('instances', created.uuid))
    } catch (error) {
      setProblem({ text: sentenceOf(error) })
      setBusy(false)
    }
  }
  const reading = readDraft(draft)
  return (
    <Page title="Create an instance">
      <form
        class="create"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div class="create-fields">
          <Basics draft={draft} change={change} problem={problem} images={images} />
          <Publishing draft={draft} change={change} problem={problem} />
          <More draft={draft} change={change} problem={problem} />
          {problem !== undefined && (
            <p class="problem" role="alert">
              {problem.text}
            </p>
          )}
          <div class="actions">
            <button type="submit" class="button main" disabled={isBusy}>
              {isBusy ? 'Creating …' : 'Create'}
            </button>
            <a class="button" href={addressOf('instances')}>
              Cancel
            </a>
          </div>
        </div>
        <aside class="create-request" aria-label="The request">
          <h2>The same by the command line</h2>
          <p class="soft small">With your token in $TOKEN.</p>
          <Command
            label="the command that creates this instance"
            text={commandOf(reading.ok ? reading.request : undefined)}
          />
        </aside>
      </form>
    </Page>
  )
}

interface PartProps {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
  readonly problem: Problem | undefined
}

function Basics(props: PartProps & { readonly images: readonly string[] }): VNode {
  const { draft, change, problem } = props
  return (
    <fieldset class="card form-part">
      <legend class="unseen">What runs</legend>
      <TextField
        name="image"
        label="Image"
        hint="The name and tag of an image in the registry."
        value={draft.image}
        onChange={(image) => change({ image })}
        isWrong={problem?.field === 'image'}
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
          isWrong={problem?.field === 'name'}
        />
        <TextField
          name="memoryMb"
          label="Memory in MiB"
          hint="Its processor and memory are its own."
          value={draft.memoryMb}
          onChange={(memoryMb) => change({ memoryMb })}
          isWrong={problem?.field === 'memoryMb'}
          inputMode="numeric"
        />
      </div>
      <CheckField
        name="starts"
        label="Start it at once"
        isOn={draft.starts}
        onChange={(starts) => change({ starts })}
      />
    </fieldset>
  )
}

function Publishing({ draft, change, problem }: PartProps): VNode {
  return (
    <fieldset class="card form-part">
      <legend class="unseen">Its public name</legend>
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
              isWrong={problem?.field === 'domain'}
              placeholder={draft.name}
            />
            <TextField
              name="port"
              label="Port of the application"
              hint="Where it listens for HTTP."
              value={draft.port}
              onChange={(port) => change({ port })}
              isWrong={problem?.field === 'port'}
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
    </fieldset>
  )
}

function More({ draft, change, problem }: PartProps): VNode {
  return (
    <details class="card more" open={problem?.field === 'env'}>
      <summary>Arguments, environment, restarts</summary>
      <div class="form-part">
        <TextField
          name="args"
          label="Arguments"
          hint="Split at blanks outside quotes. Absent: those of the image."
          value={draft.args}
          onChange={(args) => change({ args })}
        />
        <label class="field">
          <span>Environment</span>
          <textarea
            class="input"
            name="env"
            rows={4}
            spellcheck={false}
            placeholder={'NAME=value\nOTHER=value'}
            value={draft.env}
            aria-invalid={problem?.field === 'env'}
            onInput={({ currentTarget }) => change({ env: currentTarget.value })}
          />
        </label>
        <label class="field">
          <span>Start it again after it ended by itself</span>
          <select
            class="input"
            name="restart"
            value={draft.restart}
            onChange={({ currentTarget }) => change({ restart: currentTarget.value as RestartPolicy })}
          >
            <option value={RestartPolicy.Never}>Never</option>
            <option value={RestartPolicy.OnFailure}>After a failure</option>
            <option value={RestartPolicy.Always}>Always</option>
          </select>
        </label>
      </div>
    </details>
  )
}

function commandOf(request: NewInstance | undefined): string {
  const body = request === undefined ? '{"image": "…"}' : JSON.stringify(request, undefined, 2)
  return `curl -H "Authorization: Bearer $TOKEN" \\\n  ${apiAddress()}/instances \\\n  -d '${body.replaceAll("'", String.raw`'\''`)}'`
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
