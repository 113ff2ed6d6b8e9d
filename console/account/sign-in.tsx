import { useEffect, useRef, useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { sentenceOf } from '../frame/api.ts'
import { Command } from '../frame/command.tsx'
import { Mark } from '../frame/icons.tsx'
import { signIn } from './session.ts'

/** The page of a person who is not signed in. */
export function SignIn({ reason }: { readonly reason: string | undefined }): VNode {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    document.title = 'Sign in · Roost'
    field.current?.focus()
  }, [])
  const submit = async (): Promise<void> => {
    setBusy(true)
    setProblem(undefined)
    try {
      await signIn(field.current?.value ?? '')
    } catch (error) {
      setProblem(sentenceOf(error))
      setBusy(false)
      field.current?.select()
    }
  }
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <div class="brand">
          <Mark />
          <span>Roost</span>
        </div>
        <form
          class="card sign-in-card"
          onSubmit={(event) => {
            event.preventDefault()
            void submit()
          }}
        >
          <h1>Sign in</h1>
          {reason !== undefined && <p class="soft">{reason}</p>}
          {!isSecureContext && <InsecureAddress />}
          <label class="field">
            <span>API token</span>
            <input
              ref={field}
              class="input mono"
              type="password"
              name="token"
              autocomplete="current-password"
              required
              maxLength={512}
              aria-invalid={problem !== undefined}
              aria-describedby={problem === undefined ? 'token-hint' : 'token-problem'}
            />
            <span id="token-hint" class="hint">
              You get exactly what the token permits. It is not kept in this browser.
            </span>
          </label>
          {problem !== undefined && (
            <p id="token-problem" class="problem" role="alert">
              {problem}
            </p>
          )}
          <button type="submit" class="button main" disabled={isBusy}>
            {isBusy ? 'Signing in …' : 'Sign in'}
          </button>
        </form>
        <TokenHelp />
      </div>
    </main>
  )
}

function TokenHelp(): VNode {
  return (
    <details class="soft">
      <summary>Where do I get a token?</summary>
      <p>On the machine where Roost runs, the first one is in the data directory:</p>
      <Command label="the command that shows the token of admin" text="cat .roost/token" />
      <p>An operator makes one for another user:</p>
      <Command
        label="the command that makes a token"
        text="npx roost admin token create <user> --label console"
      />
    </details>
  )
}

/** Over plain HTTP from another machine, anybody on the way could read the token. */
function InsecureAddress(): VNode {
  return (
    <p class="problem" role="alert">
      This address is not protected: open the console by its public name over HTTPS, or on the machine itself.
    </p>
  )
}
