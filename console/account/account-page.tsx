import { useState } from 'preact/hooks'
import type { VNode } from 'preact'
import { useShown } from '../event/on-demand.ts'
import { Page } from '../frame/page.tsx'
import { Confirmation } from '../frame/dialog.tsx'
import { PlusIcon } from '../frame/icons.tsx'
import { ageOf, durationText, fullTime, presentMs } from '../frame/time.ts'
import { quotaKeys, Quotas } from '../overview/meters.tsx'
import { NewTokenDialog } from './new-token.tsx'
import { who } from './session.ts'
import { maySeeTokens, nameOf, revokeToken, tokens } from './tokens.ts'
import type { Token } from './tokens.ts'

/** The account of the user: its tokens, and how much of its quotas it uses. */
export function AccountPage(): VNode {
  const [isCreating, setCreating] = useState(false)
  useShown(tokens)
  const create = (
    <button type="button" class="button main" onClick={() => setCreating(true)}>
      <PlusIcon />
      Create a token
    </button>
  )
  return (
    <Page title="Account" actions={maySeeTokens() ? create : undefined}>
      <div class="columns">
        <Tokens />
        <section class="card" aria-labelledby="quotas">
          <div class="card-head">
            <h2 id="quotas">Quotas</h2>
          </div>
          <Quotas keys={quotaKeys} />
        </section>
      </div>
      {isCreating && <NewTokenDialog onClose={() => setCreating(false)} />}
    </Page>
  )
}

function Tokens(): VNode {
  const { value: all } = tokens.value
  const { value: problem } = tokens.problem
  return (
    <section class="card" aria-labelledby="tokens" aria-busy={all === undefined && problem === undefined}>
      <div class="card-head">
        <h2 id="tokens">Tokens</h2>
        <span class="faint small number">{maySeeTokens() ? all?.length : ''}</span>
      </div>
      <div class="card-body tokens-body">
        {!maySeeTokens() ? (
          <p class="soft">
            Only a token with all rights sees tokens and makes them. You are signed in with {ownName()}.
          </p>
        ) : all === undefined ? (
          <p class="soft">{problem ?? ' '}</p>
        ) : (
          <ul class="entries">
            {all.map((token) => (
              <TokenEntry key={token.uuid} token={token} />
            ))}
          </ul>
        )}
      </div>
    </section>
  )
}

function ownName(): string {
  const { uuid = '', name = '' } = who.value?.token ?? {}
  return name === uuid || name === '' ? `token ${uuid.slice(0, 8)}` : name
}

function TokenEntry({ token }: { readonly token: Token }): VNode {
  const [isAsking, setAsking] = useState(false)
  const isOwn = token.uuid === who.value?.token.uuid
  const name = nameOf(token)
  return (
    <li class="entry token">
      <div class="entry-what">
        <span class="entry-name">{name}</span>
        {isOwn && <span class="badge">this session</span>}
        <span class="soft">{rightsOf(token)}</span>
        <span class="faint small">
          <TokenTimes token={token} />
        </span>
      </div>
      <button
        type="button"
        class="button quiet"
        aria-label={`Revoke ${name}`}
        onClick={() => setAsking(true)}
      >
        Revoke
      </button>
      {isAsking && (
        <Confirmation
          title={`Revoke ${name}?`}
          text={
            isOwn
              ? 'You are signed in with this token: your session ends. Whatever else uses it is refused, too.'
              : 'Whatever uses it is refused within a second. It can not be taken back.'
          }
          action="Revoke"
          onConfirm={() => void revokeToken(token)}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  )
}

function rightsOf({ scopes, services }: Token): string {
  const rights = scopes === undefined ? 'All rights' : `Scope ${scopes.join(', ')}`
  return services === undefined ? rights : `${rights}; only ${services.join(', ')}`
}

function TokenTimes({ token }: { readonly token: Token }): VNode {
  const { created_at: created, last_used_at: used, expires_at: expires } = token
  return (
    <>
      <span title={fullTime(created)}>made {ageOf(created)} ago</span> ·{' '}
      {used === undefined ? 'never used' : <span title={fullTime(used)}>last used {ageOf(used)} ago</span>} ·{' '}
      {expires === undefined ? (
        'does not expire'
      ) : (
        <span title={fullTime(expires)}>{expiryText(expires)}</span>
      )}
    </>
  )
}

function expiryText(at: string): string {
  const leftMs = new Date(at).getTime() - presentMs.value
  return leftMs > 0 ? `expires in ${durationText(leftMs)}` : `expired ${ageOf(at)} ago`
}
