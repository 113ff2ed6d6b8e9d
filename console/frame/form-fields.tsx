import type { VNode } from 'preact'

/** One line of text in a form, with a hint below it. */
export function TextField(props: {
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isWrong?: boolean
  readonly list?: string
  readonly placeholder?: string
  readonly inputMode?: 'numeric'
}): VNode {
  return (
    <div class="field">
      <label for={`field-${props.name}`}>{props.label}</label>
      <input
        id={`field-${props.name}`}
        class="input"
        name={props.name}
        autocomplete="off"
        spellcheck={false}
        value={props.value}
        list={props.list}
        placeholder={props.placeholder}
        inputMode={props.inputMode}
        aria-invalid={props.isWrong === true}
        aria-describedby={`hint-${props.name}`}
        onInput={({ currentTarget }) => props.onChange(currentTarget.value)}
      />
      <span id={`hint-${props.name}`} class="hint">
        {props.hint}
      </span>
    </div>
  )
}

/** A choice of one word among several, each with the text that a person reads. */
export function SelectField<Word extends string>(props: {
  readonly name: string
  readonly label: string
  readonly value: Word
  readonly options: Readonly<Record<Word, string>>
  readonly onChange: (value: Word) => void
}): VNode {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select
        class="input"
        name={props.name}
        value={props.value}
        onChange={({ currentTarget }) => props.onChange(currentTarget.value as Word)}
      >
        {Object.entries<string>(props.options).map(([word, text]) => (
          <option key={word} value={word}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

/** A choice between yes and no. */
export function CheckField(props: {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}): VNode {
  return (
    <label class="check">
      <input
        type="checkbox"
        name={props.name}
        checked={props.isOn}
        onChange={({ currentTarget }) => props.onChange(currentTarget.checked)}
      />
      <span>
        {props.label}
        {props.hint !== undefined && <span class="hint check-hint">{props.hint}</span>}
      </span>
    </label>
  )
}
