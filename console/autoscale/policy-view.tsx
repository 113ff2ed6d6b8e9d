import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { mayOperate } from '../account/session.ts'
import { Confirmation } from '../frame/dialog.tsx'
import { adjustmentText, bandsOf } from './bands.ts'
import { deletePolicy } from './configurations.ts'
import type { Configuration, Policy } from './configurations.ts'

export const metricWords: Readonly<Record<Policy['metric'], readonly [name: string, unit: string]>> = {
  cpu: ['Processor', 'millicores per instance'],
  in_flight: ['Requests in flight', 'per instance'],
  requests_per_second: ['Requests per second', 'per instance'],
}

/** A policy: its steps as bands over the values of its metric, and where the metric is at present. */
export function PolicyView(props: {
  readonly service: Configuration
  readonly policy: Policy
  readonly value: number | undefined
}): VNode {
  const { service, policy, value } = props
  const [isAsking, setAsking] = useState(false)
  const [metric, unit] = metricWords[policy.metric]
  return (
    <section class="card" aria-labelledby={`policy-${policy.name}`}>
      <div class="card-head policy-head">
        <h2 id={`policy-${policy.name}`}>{policy.name}</h2>
        <span class="soft small">
          {metric}: <span class="number">{valueText(value)}</span> {unit}
        </span>
        {mayOperate.value && (
          <button
            type="button"
            class="button quiet"
            aria-label={`Delete policy ${policy.name}`}
            onClick={() => setAsking(true)}
          >
            Delete
          </button>
        )}
      </div>
      <Picture policy={policy} value={value} />
      {isAsking && (
        <Confirmation
          title={`Delete policy ${policy.name}?`}
          text={`${service.name} is scaled by its other policies alone then; without any, its size stays.`}
          action="Delete"
          onConfirm={() => void deletePolicy(service, policy.name)}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  )
}

function Picture({ policy, value }: { readonly policy: Policy; readonly value: number | undefined }): VNode {
  const { bands, bounds, at } = bandsOf(policy, value)
  return (
    <div class="bands card-body" role="img" aria-label={pictureText(policy, value)}>
      <div class="bands-line">
        {bands.map(({ from, to, kind, text }) => (
          <span
            key={from}
            class={`band ${kind}`}
            style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
          >
            {text}
          </span>
        ))}
        {at !== undefined && <span class="bands-now" style={{ left: `${at * 100}%` }} />}
      </div>
      <div class="bands-bounds faint small number">
        <span style={{ left: 0 }}>0</span>
        {bounds.map((bound) => (
          <span key={bound.value} style={{ left: `${bound.at * 100}%` }}>
            {bound.value}
          </span>
        ))}
      </div>
    </div>
  )
}

function valueText(value: number | undefined): string {
  return value === undefined ? 'not measured yet' : String(Math.round(value * 10) / 10)
}

/** The picture in words. */
function pictureText({ steps, adjustment_type: type, metric }: Policy, value: number | undefined): string {
  const parts = steps.map(({ lower_bound: lower, upper_bound: upper, adjustment }) => {
    const from = lower === undefined ? '' : `from ${lower} `
    const to = upper === undefined ? '' : `below ${upper} `
    return `${from}${to}${adjustmentText(type, adjustment)}`
  })
  return `Steps by ${metric}: ${parts.join('; ')}. Now: ${valueText(value)}.`
}
