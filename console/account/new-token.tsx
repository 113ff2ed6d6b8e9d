import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { TokenScope, tokenScopes } from '../../src/domain/account/token-scope.ts'
import { sentenceOf } from '../frame/api.ts'
import { apiAddress, Command } from '../frame/command.tsx'
import { Dialog } from '../frame/dialog.tsx'
import { CheckField, TextField } from '../frame/form-fields.tsx'
import { createToken } from './tokens.ts'
import type { NewToken } from './tokens.ts'

const dayS = 86_400
const lifetimes: readonly (readonly [seconds: number | undefined, text: string])[] = [
  [dayS, 'After a day'],
  [30 * dayS, 'After 30 days'],
  [365 * dayS, 'After a year'],
  [undefined, 'Never'],
]

const scopeHints: Readonly<Record<TokenScope, string>> = {
  [TokenScope.Read]: 'Sees everything but tokens, and changes nothing.',
  [TokenScope.Operate]: 'Makes, changes and deletes everything but tokens and images.',
  [TokenScope.ImagesPush]: 'Pushes, pulls and deletes images.',
  [TokenScope.Metrics]: 'Reads metrics alone, as for Prometheus.',
}

interface Draft {
  readonly label: string
  readonly hasAllRights: boolean
  readonly scopes: readonly TokenScope[]
  readonly services: string
  readonly lifetime: number | undefined
}

const emptyDraft: Draft = {
  label: '',
  hasAllRights: false,
  scopes: [TokenScope.Read],
  services: '',
  lifetime: 30 * dayS,
}

/** A form for a new token, and then the token itself, which is shown this once. */
export function NewTokenDialog({ onClose }: { readonly onClose: () => void }): VNode {
  const [token, setToken] = useState<string>()
  return token === undefined ? (
    <NewTokenForm key="form" onClose={onClose} onCreated={setToken} />
  ) : (
    <Dialog key="token" title="Your new token" onClose={onClose}>
      <p class="soft">Copy it now: it is shown this once, and can not be read again.</p>
      <Command label="the token" text={token} />
      <p class="soft">Use it by the command line:</p>
      <Command
        label="the command that uses the token"
        text={`curl -H "Authorization: Bearer $TOKEN" ${apiAddress()}/instances`}
      />
      <div class="actions">
        <button type="button" class="button main" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  )
}

function NewTokenForm(props: {
  readonly onClose: () => void
  readonly onCreated: (token: string) => void
}): VNode {
  const [draft, setDraft] = useState(emptyDraft)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const change = (part: Partial<Draft>): void => setDraft((was) => ({ ...was, ...part }))
  const submit = async (): Promise<void> => {
    if (!draft.hasAllRights && draft.scopes.length === 0) {
      setProblem('Choose at least one thing that the token may do.')
      return
    }
    setBusy(true)
    setProblem(undefined)
    try {
      props.onCreated(await createToken(requestOf(draft)))
    } catch (error) {
      setProblem(sentenceOf(error))
      setBusy(false)
    }
  }
  return (
    <Dialog title="Create a token" onClose={props.onClose}>
      <form
        class="dialog"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextField
          name="label"
          label="What it is for"
          hint="Events name the token by this."
          value={draft.label}
          onChange={(label) => change({ label })}
          placeholder="deploy from CI"
        />
        <Rights draft={draft} change={change} />
        <Lifetime draft={draft} change={change} />
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <div class="actions">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={isBusy}>
            {isBusy ? 'Creating …' : 'Create'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface PartProps {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
}

function Rights({ draft, change }: PartProps): VNode {
  const { hasAllRights, scopes } = draft
  return (
    <>
      <fieldset class="checks">
        <legend>What it may do</legend>
        <CheckField
          name="all"
          label="Everything, also make tokens"
          isOn={hasAllRights}
          onChange={(isOn) => change({ hasAllRights: isOn })}
        />
        {!hasAllRights &&
          tokenScopes.map((scope) => (
            <CheckField
              key={scope}
              name={scope}
              label={scope}
              hint={scopeHints[scope]}
              isOn={scopes.includes(scope)}
              onChange={(isOn) =>
                change({ scopes: isOn ? [...scopes, scope] : scopes.filter((one) => one !== scope) })
              }
            />
          ))}
      </fieldset>
      {!hasAllRights && (
        <TextField
          name="services"
          label="Only for these services"
          hint="Names with blanks between them. Empty: the whole account."
          value={draft.services}
          onChange={(services) => change({ services })}
        />
      )}
    </>
  )
}

function Lifetime({ draft, change }: PartProps): VNode {
  return (
    <label class="field">
      <span>It expires</span>
      <select
        class="input"
        name="lifetime"
        value={String(draft.lifetime)}
        onChange={({ currentTarget }) => change({ lifetime: lifetimes[currentTarget.selectedIndex]?.[0] })}
      >
        {lifetimes.map(([seconds, text]) => (
          <option key={text} value={String(seconds)}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

function requestOf({ label, hasAllRights, scopes, services, lifetime }: Draft): NewToken {
  const names = services.split(/[\s,]+/).filter((name) => name !== '')
  return {
    ...(label.trim() === '' ? {} : { label: label.trim() }),
    ...(hasAllRights ? {} : { scopes: [...scopes] }),
    ...(hasAllRights || names.length === 0 ? {} : { services: names }),
    ...(lifetime === undefined ? {} : { lifetime_s: lifetime }),
  }
}
