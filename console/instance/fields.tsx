import type { VNode } from 'preact'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'

// Fields that the forms for new and for changed instances have.

export function EnvironmentField(props: {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isWrong: boolean
}): VNode {
  return (
    <label class="field">
      <span>{props.label}</span>
      <textarea
        class="input"
        name="env"
        rows={4}
        spellcheck={false}
        placeholder={'NAME=value\nOTHER=value'}
        value={props.value}
        aria-invalid={props.isWrong}
        onInput={({ currentTarget }) => props.onChange(currentTarget.value)}
      />
    </label>
  )
}

export function RestartField(props: {
  readonly value: RestartPolicy
  readonly onChange: (value: RestartPolicy) => void
}): VNode {
  return (
    <label class="field">
      <span>Start it again after it ended by itself</span>
      <select
        class="input"
        name="restart"
        value={props.value}
        onChange={({ currentTarget }) => props.onChange(currentTarget.value as RestartPolicy)}
      >
        <option value={RestartPolicy.Never}>Never</option>
        <option value={RestartPolicy.OnFailure}>After a failure</option>
        <option value={RestartPolicy.Always}>Always</option>
      </select>
    </label>
  )
}
