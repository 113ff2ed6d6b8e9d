import { strict as assert } from 'node:assert'
import { insertInstances } from '../../src/db/instance/create.ts'
import type { NewInstances } from '../../src/db/instance/new-instances.ts'
import { createService } from '../../src/db/service/create.ts'
import { openDatabase } from '../../src/db/database.ts'
import type { Database } from '../../src/db/database.ts'
import type { Db } from '../../src/db/schema/tables.ts'
import type { NewService, WantedDomain } from '../../src/db/service/new-service.ts'
import { findServices } from '../../src/db/service/services.ts'
import type { createUser } from '../../src/db/account/users.ts'
import { parseDomainName } from '../../src/domain/service/domain-name.ts'
import { resolvePorts } from '../../src/domain/service/ports.ts'
import { addNode, addUser, testSecretBox, wantedInstance } from './accounts.ts'
import { createTestDatabase } from './postgres.ts'
import type { TestDatabase } from './postgres.ts'
import { until } from './until.ts'
import { readRows } from './rows.ts'

const metroDomain = 'metro.test'
/** The longest wait for a blocked session. Only a hang takes as long. */
const blockedWithinMs = 30_000

interface Owner {
  readonly uuid: string
}

/** Writes and reads services without the API, in a database for the describe block that calls this. */
export function serviceRecords() {
  let own: TestDatabase
  let database: Database
  let users = 0
  before(async () => {
    own = await createTestDatabase()
    database = await openDatabase({ url: own.url, applicationName: 'services', poolSize: 20 })
    await addNode(database)
  })
  after(async () => {
    await database.close()
    await own.drop()
  })

  const newUser = (hard: Parameters<typeof createUser>[1]['hard'] = {}) =>
    addUser(database, { name: `user${users++}`, hard })
  const wanted = (ports: readonly number[], domains: readonly (string | WantedDomain)[] = []): NewService => {
    const resolved = resolvePorts(ports.map((port) => ({ port })))
    assert.ok(resolved.ok)
    return {
      ports: resolved.ports,
      domains: domains.map((domain) => (typeof domain === 'string' ? domainOf(domain) : domain)),
      softLimit: 1,
      hardLimit: 65_535,
      metroDomain,
    }
  }
  const domainOf = (text: string): WantedDomain => {
    const parsed = parseDomainName(text, metroDomain)
    assert.ok(parsed.ok, text)
    return parsed.domain
  }
  const createWith = (user: Owner, service: NewService, suffix?: (length: number) => string) =>
    createService({ database, ...(suffix && { randomSuffix: suffix }) }, user.uuid, service)
  const created = async (user: Owner, service: NewService) => {
    const outcome = await createWith(user, service)
    assert.ok(outcome.ok && outcome.service, JSON.stringify(outcome))
    return outcome.service
  }
  const refusal = async (user: Owner, service: NewService) => {
    const outcome = await createWith(user, service)
    assert.ok(!outcome.ok)
    return outcome.refusal
  }
  const createInstance = async (user: Owner, more: Partial<NewInstances> = {}) =>
    insertInstances({ database, secretBox: testSecretBox }, wantedInstance(user, more))
  const instances = async (user: Owner, more: Partial<NewInstances> = {}) => {
    const outcome = await createInstance(user, more)
    assert.ok(outcome.ok, JSON.stringify(outcome))
    return outcome.instances
  }
  /**
   * Holds the locks that `hold` takes, and runs the calls of `start` meanwhile. Once `sessions` wait for
   * locks, the locks are released without a change. Returns the results of the calls.
   */
  const whileHeld = async <A, B>(
    hold: (db: Db) => Promise<unknown>,
    start: (blocked: (sessions: number) => Promise<boolean>) => [Promise<A>, Promise<B>],
    sessions: number,
  ): Promise<[A, B]> => {
    const blocked = (atLeast: number) =>
      until(`${atLeast} sessions wait`, isBlocked(atLeast), { limitMs: blockedWithinMs })
    const isBlocked = (atLeast: number) => async () => {
      const [row] = await readRows<{ count: number }>(database, {
        text: `select count(*)::int as count from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock'`,
      })
      return (row?.count ?? 0) >= atLeast
    }
    const held = await database.db.startTransaction().execute()
    try {
      await hold(held)
      const started = Promise.all(start(blocked))
      await blocked(sessions)
      await held.rollback().execute()
      return await started
    } finally {
      if (!held.isRolledBack) await held.rollback().execute()
    }
  }
  const find = async (user: Owner, uuid: string | null | undefined) =>
    (await findServices(database, { userUuid: user.uuid }, [{ uuid: uuid ?? '' }]))[0]
  const count = async (text: string, value: string) => {
    const [row] = await readRows<{ count: number }>(database, {
      text: `select count(*)::int as count from ${text} = $1`,
      values: [value],
    })
    return row?.count
  }
  const certificates = async (user: Owner) =>
    readRows<{ uuid: string; name: string; commonName: string; state: string }>(database, {
      text: `select uuid, name, common_name as "commonName", state from certificates where user_uuid = $1
             order by position`,
      values: [user.uuid],
    })
  const addCertificate = async (user: Owner, name: string, commonName: string, state = 'valid') => {
    const [row] = await readRows<{ uuid: string }>(database, {
      text: `insert into certificates (uuid, user_uuid, name, common_name, state)
             values (gen_random_uuid(), $1, $2, $3, $4) returning uuid`,
      values: [user.uuid, name, commonName, state],
    })
    return row!.uuid
  }

  return {
    database: () => database,
    newUser,
    wanted,
    domainOf,
    createWith,
    created,
    refusal,
    createInstance,
    instances,
    whileHeld,
    find,
    count,
    certificates,
    addCertificate,
  }
}
