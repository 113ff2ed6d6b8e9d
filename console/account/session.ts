import { computed, signal } from '@preact/signals'
import { failureOf } from '../../src/client/api-failure.ts'
import { permits, TokenScope } from '../../src/domain/account/token-scope.ts'

/** Who is signed in, as `/console/session` says it. */
export interface SignedIn {
  readonly user: string
  readonly admin: boolean
  readonly token: { readonly uuid: string; readonly name: string; readonly expires_at: string | null }
  readonly scopes: readonly TokenScope[] | null
  readonly services: readonly string[] | null
  readonly ends_at: string
}

export type Session =
  | { readonly kind: 'opening' }
  /** The API does not answer. The page asks again by itself. */
  | { readonly kind: 'away' }
  | { readonly kind: 'out'; readonly reason?: string }
  | { readonly kind: 'in'; readonly who: SignedIn }

const path = '/console/session'
const retryMs = 2_000
/** How often a person's activity is told to the API at most. */
const activityMs = 60_000

export const session = signal<Session>({ kind: 'opening' })

/** The user who is signed in. Pages behind the sign-in may rely on it. */
export const who = computed(() => (session.value.kind === 'in' ? session.value.who : undefined))

/** Whether the token may change something. The API decides; the page only does not offer what it refuses. */
export const mayOperate = computed(() => permits(who.value?.scopes ?? null, [TokenScope.Operate]))

/** Finds out whether there is a session, until the API answers. */
export async function openSession(): Promise<void> {
  for (;;) {
    const answer = await ask('GET').catch(() => undefined)
    if (answer?.ok === true) {
      session.value = { kind: 'in', who: (await answer.json()) as SignedIn }
      return
    }
    if (answer !== undefined && answer.status < 500) {
      session.value = { kind: 'out' }
      return
    }
    session.value = { kind: 'away' }
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

/** Signs in. Throws `ApiFailure` with the reason if the token is refused. */
export async function signIn(token: string): Promise<void> {
  const answer = await ask('POST', { token })
  if (!answer.ok) throw await failureOf(answer)
  session.value = { kind: 'in', who: (await answer.json()) as SignedIn }
}

export async function signOut(): Promise<void> {
  await ask('DELETE').catch(() => undefined)
  session.value = { kind: 'out' }
}

/** Called when the API has refused the session. The address stays, so the next sign-in leads back to it. */
export function endSession(): void {
  if (session.value.kind !== 'in') return
  session.value = {
    kind: 'out',
    reason: 'Your session has ended. Sign in again to go on where you were.',
  }
}

/** Tells the API that a person uses the page, which keeps the session. */
export function watchActivity(): void {
  let toldMs = performance.now()
  const tell = (): void => {
    if (session.value.kind !== 'in' || performance.now() - toldMs < activityMs) return
    toldMs = performance.now()
    ask('GET').then(
      (answer) => {
        if (answer.status === 401) endSession()
      },
      () => undefined,
    )
  }
  for (const kind of ['keydown', 'pointerdown', 'wheel']) addEventListener(kind, tell, { passive: true })
}

async function ask(method: string, body?: object): Promise<Response> {
  return await fetch(path, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
}
