import { useMemo, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { one } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { api, sentenceOf } from '../frame/api.ts'
import { Charts } from '../usage/charts.tsx'
import type { Configuration } from './configurations.ts'
import { metricWords } from './policy-view.tsx'
import { scaleCharts } from './scale-charts.ts'
import type { BoundedPolicy } from './scale-charts.ts'
import { boundedOf, draftOf, fieldOf, readTrial } from './trial-draft.ts'
import type { PolicyDraft, StepDraft, TrialDraft, TrialTime } from './trial-draft.ts'

interface Tried {
  readonly trial: Entry<'TryAutoscaleAnswer'>
  readonly policies: readonly BoundedPolicy[]
}

const times: readonly (readonly [last: TrialTime, title: string])[] = [
  ['1h', 'Last hour'],
  ['1d', 'Last day'],
]
const metrics = ['cpu', 'in_flight', 'requests_per_second'] as const

/** A form to change the configuration for a trial, and what it would have done with the recorded load. */
export function TrialView({ service }: { readonly service: Configuration }): VNode {
  const { draft, change, run, tried, problem, isBusy } = useTrial(service)
  const { policies, last } = draft
  return (
    <section class="card trial" aria-labelledby="trial">
      <div class="card-head">
        <h2 id="trial">Try it on the recorded load</h2>
        <span class="faint small">Nothing of the service changes.</span>
      </div>
      <form
        class="card-body"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <Bounds draft={draft} change={change} wrong={problem?.field} />
        {policies.map((policy, index) => (
          <PolicyFields
            key={policy.name}
            policy={policy}
            index={index}
            wrong={problem?.field}
            onChange={(changed) => change({ policies: policies.with(index, changed) })}
          />
        ))}
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem.text}
          </p>
        )}
        <div class="actions">
          {times.map(([time, title]) => (
            <label key={time} class="check">
              <input
                type="radio"
                name="last"
                checked={last === time}
                onChange={() => change({ last: time })}
              />
              <span>{title}</span>
            </label>
          ))}
          <button type="submit" class="button main" disabled={isBusy}>
            {isBusy ? 'Trying …' : 'Try it'}
          </button>
        </div>
      </form>
      {tried !== undefined && <Result key={JSON.stringify(tried.policies)} {...tried} />}
    </section>
  )
}

function useTrial(service: Configuration) {
  const [draft, setDraft] = useState(() => draftOf(service))
  const [tried, setTried] = useState<Tried>()
  const [problem, setProblem] = useState<{ readonly text: string; readonly field?: string }>()
  const [isBusy, setBusy] = useState(false)
  const change = (part: Partial<TrialDraft>): void => setDraft((was) => ({ ...was, ...part }))
  const run = async (): Promise<void> => {
    const reading = readTrial(draft)
    if (!reading.ok) {
      setProblem({ text: reading.problem, field: reading.field })
      return
    }
    setBusy(true)
    setProblem(undefined)
    try {
      const params = { path: { object: service.uuid } }
      const { request: body } = reading
      const trial = one(await api.POST('/v1/services/{object}/autoscale/try', { params, body }))
      setTried({ trial, policies: boundedOf(draft) })
    } catch (error) {
      setProblem({ text: sentenceOf(error) })
    } finally {
      setBusy(false)
    }
  }
  return { draft, change, run, tried, problem, isBusy }
}

function Bounds(props: {
  readonly draft: TrialDraft
  readonly change: (part: Partial<TrialDraft>) => void
  readonly wrong: string | undefined
}): VNode {
  const { draft, change, wrong } = props
  return (
    <div class="number-fields">
      {(
        [
          ['minSize', 'Fewest instances'],
          ['maxSize', 'Most instances'],
          ['warmup', 'A new one counts after (s)'],
          ['cooldown', 'One that leaves drains for (s)'],
        ] as const
      ).map(([name, label]) => (
        <label key={name} class="field">
          <span>{label}</span>
          <input
            class="input"
            name={`trial-${name}`}
            inputMode="numeric"
            autocomplete="off"
            value={draft[name]}
            aria-invalid={wrong === name}
            onInput={({ currentTarget }) => change({ [name]: currentTarget.value })}
          />
        </label>
      ))}
    </div>
  )
}

function PolicyFields(props: {
  readonly policy: PolicyDraft
  readonly index: number
  readonly wrong: string | undefined
  readonly onChange: (policy: PolicyDraft) => void
}): VNode {
  const { policy, index, wrong, onChange } = props
  const [word, unit] = metricWords[policy.metric]
  const changeStep = (place: number, part: Partial<StepDraft>): void =>
    onChange({
      ...policy,
      steps: policy.steps.with(place, { ...policy.steps[place]!, ...part }),
    })
  const does = { change: 'Add', exact: 'Have', percent: 'Add %' }[policy.adjustment_type]
  return (
    <fieldset class="trial-policy">
      <legend>
        {policy.name}{' '}
        <span class="soft small">
          {word}, {unit}
        </span>
      </legend>
      {policy.steps.map((step, place) => (
        <div key={place} class="trial-step">
          {(
            [
              ['lower', 'From'],
              ['upper', 'Below'],
              ['adjustment', does],
            ] as const
          ).map(([name, label]) => (
            <label key={name}>
              <span class="small soft">{label}</span>
              <input
                class="input"
                name={`${fieldOf(index, place)}-${name}`}
                inputMode="numeric"
                autocomplete="off"
                value={step[name]}
                aria-invalid={wrong === fieldOf(index, place)}
                onInput={({ currentTarget }) => changeStep(place, { [name]: currentTarget.value })}
              />
            </label>
          ))}
        </div>
      ))}
    </fieldset>
  )
}

function Result({ trial, policies }: Tried): VNode {
  const shown = useMemo(() => {
    const { steps, decisions } = trial
    const charts = scaleCharts(policies, {
      metrics: Object.fromEntries(
        metrics.map((metric) => [metric, steps.map((step) => step.metrics?.[metric] ?? null)]),
      ) as Record<(typeof metrics)[number], (number | null)[]>,
      sizes: [
        { label: 'there would have been', values: steps.map(({ size }) => size) },
        { label: 'that ran', values: steps.map(({ ran }) => ran) },
      ],
    })
    const seconds = (at: string): number => Date.parse(at) / 1_000
    return {
      charts,
      times: {
        times: steps.map(({ at }) => seconds(at)),
        marks: decisions.map(({ at }) => seconds(at)),
      },
    }
  }, [trial, policies])
  return (
    <div class="usage">
      <p role="status">{trial.text}</p>
      <Charts shown={shown} count={policies.length + 1} />
    </div>
  )
}
