import { FlattenedSign } from 'jose'
import { makeKey } from '../x509/key-pair.ts'
import { signerOf } from './acme-session.ts'
import type { AccountSigner, AcmeSession, SignedCall } from './acme-session.ts'
import type { AcmeAnswer } from './acme-http.ts'
import { shortType } from './authority-problem.ts'
import type { AuthorityRecord, AuthorityStore } from './authority-store.ts'
import { IssueError } from './issuer.ts'

/**
 * The credentials that an authority gave its customer outside of ACME. They bind the account to that
 * customer (RFC 8555, 7.3.4).
 */
export interface ExternalAccount {
  readonly keyId: string
  /** In base64url, as authorities hand it out. */
  readonly hmacKey: string
}

export interface AccountOptions {
  readonly directoryUrl: string
  readonly store: AuthorityStore
  readonly externalAccount?: ExternalAccount
  /** Mail addresses to which the authority writes. */
  readonly contacts?: readonly string[]
}

/**
 * The platform's account. It is made with the first request that needs it. Its key is stored before the
 * authority gets it.
 */
export interface AcmeAccount {
  /**
   * Signs the call with the key of the account and sends it. If the authority forgot the account, the account
   * is made again, once.
   */
  post(call: SignedCall): Promise<AcmeAnswer>
  /** The thumbprint of the account's key, with which challenges are answered. */
  thumbprint(): Promise<string>
}

export function createAcmeAccount(session: AcmeSession, options: AccountOptions): AcmeAccount {
  const { directoryUrl, store } = options
  let opened: Promise<AccountSigner> | undefined

  /** Opens the account, unless an earlier call did. */
  function signer(): Promise<AccountSigner> {
    return opened ?? share(open())
  }

  /** Later calls share this attempt to open the account. If it fails, the next call makes a new one. */
  function share(attempt: Promise<AccountSigner>): Promise<AccountSigner> {
    opened = attempt.catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  async function open(): Promise<AccountSigner> {
    const record = (await store.find(directoryUrl)) ?? (await store.keep(directoryUrl, { key: makeKey() }))
    if (record.accountUrl !== undefined) return signerOf(record.key, record.accountUrl)
    return register(record)
  }

  /** Makes the account. If the authority has an account with this key already, it answers with that one. */
  async function register(record: AuthorityRecord): Promise<AccountSigner> {
    const { newAccount } = await session.directory()
    const unregistered = await signerOf(record.key, undefined)
    const answer = await session.post(
      {
        url: newAccount,
        what: 'the account',
        payload: {
          termsOfServiceAgreed: true,
          ...(options.contacts && { contact: options.contacts.map((address) => `mailto:${address}`) }),
          ...(options.externalAccount && {
            externalAccountBinding: await bindingOf(options.externalAccount, unregistered, newAccount),
          }),
        },
      },
      unregistered,
    )
    const { location } = answer
    if (location === undefined) throw new IssueError('later', `${session.authority} named no account`)
    await store.noteAccountUrl(directoryUrl, record, location)
    return { ...unregistered, accountUrl: location }
  }

  /** Several calls may find out that the account was forgotten. The first of them makes it again. */
  function signerAfter(forgotten: Promise<AccountSigner>): Promise<AccountSigner> {
    return opened === forgotten ? share(openAgain()) : signer()
  }

  async function openAgain(): Promise<AccountSigner> {
    const record = await store.find(directoryUrl)
    return await (record === undefined ? open() : register(record))
  }

  return {
    async post(call) {
      const asked = signer()
      try {
        return await session.post(call, await asked)
      } catch (error) {
        if (!isForgotten(error)) throw error
        return session.post(call, await signerAfter(asked))
      }
    },
    async thumbprint() {
      return (await signer()).thumbprint
    },
  }
}

function isForgotten(error: unknown): boolean {
  return error instanceof IssueError && shortType(error.problem?.type ?? '') === 'accountDoesNotExist'
}

async function bindingOf(
  account: ExternalAccount,
  { publicJwk }: AccountSigner,
  url: string,
): Promise<object> {
  return new FlattenedSign(new TextEncoder().encode(JSON.stringify(publicJwk)))
    .setProtectedHeader({ alg: 'HS256', kid: account.keyId, url })
    .sign(Buffer.from(account.hmacKey, 'base64url'))
}
