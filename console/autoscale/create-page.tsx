import { useEffect, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { api, sentenceOf } from '../frame/api.ts'
import { apiAddress, Command } from '../frame/command.tsx'
import { Page } from '../frame/page.tsx'
import { addressOf, go } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { TextField } from '../frame/form-fields.tsx'
import { instances } from '../instance/store.ts'
import { configurations, isConfigured } from './configurations.ts'
import { emptyDraft, readDraft } from './new-configuration.ts'
import type { Draft } from './new-configuration.ts'
import { metricWords } from './policy-view.tsx'

interface Problem {
  readonly field?: keyof Draft
  readonly text: string
}

/** A form for a configuration with one policy, with the request that it sends. */
export function ScalePage(): VNode {
  const [draft, setDraft] = useState(emptyDraft)
  const [problem, setProblem] = useState<Problem>()
  const [isBusy, setBusy] = useState(false)
  useEffect(() => configurations.want(), [])
  const change = (part: Partial<Draft>): void => setDraft((was) => ({ ...was, ...part }))
  const reading = readDraft(draft)
  const submit = async (): Promise<void> => {
    if (!reading.ok) {
      setProblem({ field: reading.field, text: reading.problem })
      document.querySelector<HTMLElement>(`[name="${reading.field}"]`)?.focus()
      return
    }
    setBusy(true)
    setProblem(undefined)
    try {
      const params = { path: { object: reading.service } }
      const made = one(await api.POST('/v1/services/{object}/autoscale', { params, body: reading.request }))
      say(`${made.name} is scaled by its load now.`)
      go(addressOf('autoscale', made.uuid))
    } catch (error) {
      setProblem({ text: sentenceOf(error) })
      setBusy(false)
    }
  }
  const body = reading.ok ? JSON.stringify(reading.request, undefined, 2) : '{"master": …}'
  const path = `${apiAddress()}/services/${reading.ok ? reading.service : '…'}/autoscale`
  return (
    <Page title="Scale a service">
      <form
        class="create"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <div class="create-fields">
          <What draft={draft} change={change} problem={problem} />
          <Load draft={draft} change={change} problem={problem} />
          {problem !== undefined && (
            <p class="problem" role="alert">
              {problem.text}
            </p>
          )}
          <div class="actions">
            <button type="submit" class="button main" disabled={isBusy}>
              {isBusy ? 'Scaling …' : 'Scale it'}
            </button>
            <a class="button" href={addressOf('autoscale')}>
              Cancel
            </a>
          </div>
        </div>
        <aside class="create-request" aria-label="The request">
          <h2>The same by the command line</h2>
          <p class="soft small">With your token in $TOKEN.</p>
          <Command
            label="the command that scales this service"
            text={`curl -H "Authorization: Bearer $TOKEN" \\\n  ${path} \\\n  -d '${body}'`}
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

function What({ draft, change, problem }: PartProps): VNode {
  const services = [...(configurations.value.value?.values() ?? [])].filter((one) => !isConfigured(one))
  // An instance in another service can not be attached to this one.
  const masters = [...instances.value.values()].filter(
    ({ service_group: service }) => service === undefined || service.uuid === draft.service,
  )
  return (
    <fieldset class="card form-part">
      <legend class="unseen">What is scaled</legend>
      <Choice
        name="service"
        label="Service"
        value={draft.service}
        options={services.map(({ uuid, name }) => [uuid, name])}
        onChange={(service) => change({ service, master: '' })}
        isWrong={problem?.field === 'service'}
      />
      <Choice
        name="master"
        label="Instance to clone"
        value={draft.master}
        options={masters.map(({ uuid, name }) => [uuid, name])}
        onChange={(master) => change({ master })}
        isWrong={problem?.field === 'master'}
      />
      <div class="form-row">
        <NumberField
          name="minSize"
          label="Fewest instances"
          hint="They stay at any load."
          {...{ draft, change, problem }}
        />
        <NumberField
          name="maxSize"
          label="Most instances"
          hint="No load adds more."
          {...{ draft, change, problem }}
        />
      </div>
    </fieldset>
  )
}

function Load({ draft, change, problem }: PartProps): VNode {
  const [, unit] = metricWords[draft.metric]
  return (
    <fieldset class="card form-part">
      <legend class="unseen">By which load</legend>
      <label class="field">
        <span>What is measured</span>
        <select
          class="input"
          name="metric"
          value={draft.metric}
          onChange={({ currentTarget }) => change({ metric: currentTarget.value as Draft['metric'] })}
        >
          {Object.entries(metricWords).map(([metric, [name, of]]) => (
            <option key={metric} value={metric}>
              {name}, {of}
            </option>
          ))}
        </select>
      </label>
      <div class="form-row">
        <NumberField
          name="giveBackBelow"
          label="Give one back below"
          hint={unit}
          {...{ draft, change, problem }}
        />
        <NumberField name="addFrom" label="Add one from" hint={unit} {...{ draft, change, problem }} />
      </div>
    </fieldset>
  )
}

function NumberField(
  props: PartProps & {
    readonly name: 'minSize' | 'maxSize' | 'addFrom' | 'giveBackBelow'
    readonly label: string
    readonly hint: string
  },
): VNode {
  const { name, label, hint, draft, change, problem } = props
  return (
    <TextField
      name={name}
      label={label}
      hint={hint}
      value={draft[name]}
      onChange={(value) => change({ [name]: value })}
      isWrong={problem?.field === name}
      inputMode="numeric"
    />
  )
}

function Choice(props: {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: string) => void
  readonly isWrong: boolean
}): VNode {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select
        class="input"
        name={props.name}
        value={props.value}
        aria-invalid={props.isWrong}
        onChange={({ currentTarget }) => props.onChange(currentTarget.value)}
      >
        <option value="">{props.options.length === 0 ? 'There is none' : 'Choose one'}</option>
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
