import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import { useShown } from '../event/on-demand.ts'
import { api } from '../frame/api.ts'
import { requestCommand } from '../frame/command.tsx'
import { addressOf } from '../frame/place.ts'
import { say } from '../frame/toasts.tsx'
import { TextField } from '../frame/form-fields.tsx'
import { CreateForm, FormPart } from '../object/create-form.tsx'
import { instances } from '../instance/store.ts'
import { configurations, isConfigured } from './configurations.ts'
import { emptyDraft, readDraft } from './new-configuration.ts'
import type { Draft } from './new-configuration.ts'
import { metricWords } from './policy-view.tsx'

/** A form for a configuration with one policy, with the request that it sends. */
export function ScalePage(): VNode {
  const [draft, setDraft] = useState(emptyDraft)
  useShown(configurations)
  const change = (part: Partial<Draft>): void => setDraft((was) => ({ ...was, ...part }))
  const reading = readDraft(draft)
  const body = reading.ok ? JSON.stringify(reading.request, undefined, 2) : '{"master": …}'
  return (
    <CreateForm
      title="Scale a service"
      back={addressOf('autoscale')}
      action="Scale it"
      busy="Scaling …"
      label="the command that scales this service"
      command={requestCommand(`services/${reading.ok ? draft.service : '…'}/autoscale`, body)}
      isRequest
      read={() => reading}
      send={async (request) => {
        const params = { path: { object: draft.service } }
        const made = one(await api.POST('/v1/services/{object}/autoscale', { params, body: request }))
        say(`${made.name} is scaled by its load now.`)
        return addressOf('autoscale', made.uuid)
      }}
      parts={(wrong) => (
        <>
          <What draft={draft} change={change} wrong={wrong} />
          <Load draft={draft} change={change} wrong={wrong} />
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

function What({ draft, change, wrong }: PartProps): VNode {
  const services = [...(configurations.value.value?.values() ?? [])].filter((one) => !isConfigured(one))
  // An instance in another service can not be attached to this one.
  const masters = [...instances.value.values()].filter(
    ({ service_group: service }) => service === undefined || service.uuid === draft.service,
  )
  return (
    <FormPart title="What is scaled">
      <Choice
        name="service"
        label="Service"
        value={draft.service}
        options={services.map(({ uuid, name }) => [uuid, name])}
        onChange={(service) => change({ service, master: '' })}
        isWrong={wrong === 'service'}
      />
      <Choice
        name="master"
        label="Instance to clone"
        value={draft.master}
        options={masters.map(({ uuid, name }) => [uuid, name])}
        onChange={(master) => change({ master })}
        isWrong={wrong === 'master'}
      />
      <div class="form-row">
        <NumberField
          name="minSize"
          label="Fewest instances"
          hint="They stay at any load."
          {...{ draft, change, wrong }}
        />
        <NumberField
          name="maxSize"
          label="Most instances"
          hint="No load adds more."
          {...{ draft, change, wrong }}
        />
      </div>
    </FormPart>
  )
}

function Load({ draft, change, wrong }: PartProps): VNode {
  const [, unit] = metricWords[draft.metric]
  return (
    <FormPart title="By which load">
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
          {...{ draft, change, wrong }}
        />
        <NumberField name="addFrom" label="Add one from" hint={unit} {...{ draft, change, wrong }} />
      </div>
    </FormPart>
  )
}

function NumberField(
  props: PartProps & {
    readonly name: 'minSize' | 'maxSize' | 'addFrom' | 'giveBackBelow'
    readonly label: string
    readonly hint: string
  },
): VNode {
  const { name, label, hint, draft, change, wrong } = props
  return (
    <TextField
      name={name}
      label={label}
      hint={hint}
      value={draft[name]}
      onChange={(value) => change({ [name]: value })}
      isWrong={wrong === name}
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
