import type { RouteChallenge } from '../../domain/service/route-feed.ts'
import type { CertificateDeps } from './records.ts'
import type { Database } from '../database.ts'
import { challengeKeyContext } from '../service/feed-routes.ts'
import { SecretBoxError } from '../secret-box.ts'
import type { SecretBox } from '../secret-box.ts'

/** What an attempt goes on with after a crash. */
export interface KeptOrder {
  /** PEM. */
  readonly keyPem: string
  /** Absent until the authority has answered. */
  readonly orderUrl?: string
}

interface StoredOrder {
  readonly directory: string
  readonly keySealed: string
  readonly orderUrl: string | null
}

/**
 * The order under way, with the key that it is finalised with. Where there is none with this authority, one
 * is begun with a new key; of two that begin at once both get the first one's. Undefined where the
 * certificate is gone.
 */
export async function ensureOrderKey(
  { database, secretBox }: CertificateDeps,
  wanted: { readonly uuid: string; readonly directory: string; readonly makeKeyPem: () => string },
): Promise<KeptOrder | undefined> {
  const { uuid, directory } = wanted
  const stored = await storedOrder(database, uuid)
  const kept = stored && openedOrder(secretBox, uuid, { stored, directory })
  if (kept !== undefined) return kept
  // What is there is another authority's, or its key can not be opened: neither can be gone on with. It is
  // replaced where it still is what was seen.
  const keySealed = secretBox.seal(wanted.makeKeyPem(), orderKeyContext(uuid))
  await database.rows({
    name: 'ensure-order-key',
    text: `insert into certificate_orders as kept (certificate_uuid, directory, key_sealed)
             select uuid, $2, $3 from certificates where uuid = $1 and origin = 'requested' for key share
           on conflict (certificate_uuid) do update
             set directory = excluded.directory, key_sealed = excluded.key_sealed, order_url = null, created_at = now()
             where kept.key_sealed = $4`,
    values: [uuid, directory, keySealed, stored?.keySealed ?? null],
  })
  return findOrder({ database, secretBox }, uuid, directory)
}

/** The order under way with this authority. */
export async function findOrder(
  { database, secretBox }: CertificateDeps,
  uuid: string,
  directory: string,
): Promise<KeptOrder | undefined> {
  const stored = await storedOrder(database, uuid)
  return stored && openedOrder(secretBox, uuid, { stored, directory })
}

function openedOrder(
  box: SecretBox,
  uuid: string,
  { stored, directory }: { readonly stored: StoredOrder; readonly directory: string },
): KeptOrder | undefined {
  const { keySealed, orderUrl } = stored
  const keyPem = stored.directory === directory ? openedKey(box, keySealed, uuid) : undefined
  return keyPem === undefined ? undefined : { keyPem, ...(orderUrl !== null && { orderUrl }) }
}

async function storedOrder(database: Database, uuid: string): Promise<StoredOrder | undefined> {
  const [stored] = await database.rows<StoredOrder>({
    name: 'find-certificate-order',
    text: `select directory, key_sealed as "keySealed", order_url as "orderUrl" from certificate_orders
           where certificate_uuid = $1`,
    values: [uuid],
  })
  return stored
}

/**
 * Notes the order's URL, before anything is done with it. Answers the one that is kept, which is the first;
 * undefined where the order is not under way any more.
 */
export async function setOrderUrl(
  database: Database,
  order: { readonly uuid: string; readonly directory: string; readonly orderUrl: string },
): Promise<string | undefined> {
  const [row] = await database.rows<{ orderUrl: string }>({
    name: 'set-order-url',
    text: `update certificate_orders set order_url = coalesce(order_url, $3)
           where certificate_uuid = $1 and directory = $2 returning order_url as "orderUrl"`,
    values: [order.uuid, order.directory, order.orderUrl],
  })
  return row?.orderUrl
}

/** Forgets an order that leads nowhere, its key and what was shown for it. Idempotent. */
export async function clearOrder(database: Database, uuid: string): Promise<void> {
  await database.rows({
    name: 'clear-certificate-order',
    text: `with owner as materialized (select uuid from certificates where uuid = $1 for key share),
             shown as (delete from acme_challenges using owner where certificate_uuid = owner.uuid)
           delete from certificate_orders using owner where certificate_uuid = owner.uuid`,
    values: [uuid],
  })
}

/**
 * Has gateways show exactly these for the certificate. Idempotent: those that are shown already stay. False
 * where the certificate is gone.
 */
export async function putChallenges(
  { database, secretBox }: CertificateDeps,
  uuid: string,
  challenges: readonly RouteChallenge[],
): Promise<boolean> {
  const of = <Field extends keyof RouteChallenge>(field: Field) => challenges.map((one) => one[field] ?? null)
  const keys = challenges.map(({ token, key }) =>
    key === undefined ? null : secretBox.seal(key, challengeKeyContext(token)),
  )
  const rows = await database.rows<object>({
    name: 'put-challenges',
    text: `with owner as materialized
               (select uuid from certificates where uuid = $1 and origin = 'requested' for key share),
             dropped as (delete from acme_challenges using owner
               where certificate_uuid = owner.uuid and id <> all($2::text[])),
             added as (insert into acme_challenges (id, certificate_uuid, kind, fqdn, key_authorization, chain, key_sealed)
               select token, owner.uuid, kind, fqdn, key_authorization, chain, key_sealed
               from owner, unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
                 as wanted (token, kind, fqdn, key_authorization, chain, key_sealed)
               on conflict (id) do nothing)
           select 1 from owner`,
    values: [uuid, of('token'), of('kind'), of('fqdn'), of('keyAuthorization'), of('chain'), keys],
  })
  return rows.length > 0
}

/** Ends what gateways show for it. Idempotent. */
export async function dropChallenges(database: Database, uuid: string): Promise<void> {
  await database.rows({
    name: 'drop-challenges',
    text: 'delete from acme_challenges where certificate_uuid = $1',
    values: [uuid],
  })
}

/** What binds the key of an order to its certificate. */
function orderKeyContext(uuid: string): string {
  return `certificate-order-key/${uuid}`
}

function openedKey(box: SecretBox, sealed: string, uuid: string): string | undefined {
  try {
    return box.open(sealed, orderKeyContext(uuid))
  } catch (error) {
    if (error instanceof SecretBoxError) return undefined
    throw error
  }
}
