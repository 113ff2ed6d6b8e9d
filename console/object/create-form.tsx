import { useState } from 'preact/hooks'
import type { ComponentChildren, VNode } from 'preact'
import { sentenceOf } from '../frame/api.ts'
import { Command } from '../frame/command.tsx'
import { Page } from '../frame/page.tsx'
import { go } from '../frame/place.ts'
import type { FormReading } from './form-reading.ts'

/** A form for a new object, with the command that does the same. */
export function CreateForm<R>(props: {
  readonly title: string
  /** Where a person goes who does not want the object. */
  readonly back: string
  readonly action: string
  /** The word of the button while the request is under way. */
  readonly busy?: string
  readonly label: string
  readonly command: string
  /** Present if the command is the request itself, for which a person needs a token. */
  readonly isRequest?: true
  readonly read: () => FormReading<R>
  /** The name of the field that a refusal of the API is about, by its sentence. */
  readonly fieldOf?: (sentence: string) => string | undefined
  /** Sends the request. Returns the page to show afterwards. */
  readonly send: (request: R) => Promise<string>
  /** The parts of the form, each a `fieldset`. `wrong` is the name of the field that is wrong. */
  readonly parts: (wrong: string | undefined) => ComponentChildren
}): VNode {
  const [problem, setProblem] = useState<{ readonly field?: string; readonly text: string }>()
  const [isBusy, setBusy] = useState(false)
  const show = (text: string, field: string | undefined): void => {
    setProblem({ text, ...(field !== undefined && { field }) })
    if (field !== undefined) document.querySelector<HTMLElement>(`[name="${field}"]`)?.focus()
  }
  const submit = async (): Promise<void> => {
    const reading = props.read()
    if (!reading.ok) {
      show(reading.problem, reading.field)
      return
    }
    setBusy(true)
    setProblem(undefined)
    try {
      go(await props.send(reading.request))
    } catch (error) {
      const sentence = sentenceOf(error)
      show(sentence, props.fieldOf?.(sentence))
      setBusy(false)
    }
  }
  return (
    <Page title={props.title}>
      <form
        class="create"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div class="create-fields">
          {props.parts(problem?.field)}
          {problem !== undefined && (
            <p class="problem" role="alert">
              {problem.text}
            </p>
          )}
          <div class="actions">
            <button type="submit" class="button main" disabled={isBusy}>
              {isBusy ? (props.busy ?? 'Sending …') : props.action}
            </button>
            <a class="button" href={props.back}>
              Cancel
            </a>
          </div>
        </div>
        <aside class="create-request" aria-label={props.isRequest ? 'The request' : 'The command'}>
          <h2>The same by the command line</h2>
          {props.isRequest && <p class="soft small">With your token in $TOKEN.</p>}
          <Command label={props.label} text={props.command} />
        </aside>
      </form>
    </Page>
  )
}

/** Fields of a form that belong together. */
export function FormPart(props: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <fieldset class="card form-part">
      <legend class="unseen">{props.title}</legend>
      {props.children}
    </fieldset>
  )
}
