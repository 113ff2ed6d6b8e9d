import { setTimeout as delay } from 'node:timers/promises'
import { Connection, isGrpcServiceError } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { connectionOptions } from '../../trust/temporal-tls.ts'
import type { TemporalServer } from '../../trust/temporal-tls.ts'
import { searchAttributeKinds } from './temporal-config.ts'
import type { NamespaceConfig } from './temporal-config.ts'

const dayMs = 86_400_000
/** The status codes of gRPC that are handled here. */
const notFound = 5
const alreadyExists = 6
/**
 * How long to wait for a new namespace or attribute. A server learns of it at its next refresh, which may
 * take up to 10 s.
 */
const visibleLimitMs = 40_000
const pollMs = 200

export interface Registration extends TemporalServer {
  readonly namespace: string
  readonly config: NamespaceConfig
}

/**
 * Makes sure that the namespace and its search attributes are as configured, and resolves when they can be
 * used. A repeat changes nothing, and several processes may call it at once. Throws if an attribute already
 * exists with another type, because Temporal can not change a type, and `UnreachableTemporal` if there is no
 * connection.
 */
export async function registerNamespace({ namespace, config, ...server }: Registration): Promise<void> {
  const connection = await Connection.connect(connectionOptions(server)).catch((cause: unknown) => {
    throw new UnreachableTemporal(server, cause)
  })
  try {
    await ensureNamespace(connection, namespace, config)
    await untilVisible(async () => {
      await ensureSearchAttributes(connection, namespace, config)
      await askByAttributes(connection, namespace, config)
    })
  } finally {
    await connection.close()
  }
}

async function ensureNamespace(
  connection: Connection,
  namespace: string,
  config: NamespaceConfig,
): Promise<void> {
  const retention = msToTs(config.retentionDays * dayMs)
  try {
    const found = await connection.workflowService.describeNamespace({ namespace })
    if (found.config?.workflowExecutionRetentionTtl?.seconds?.equals(retention.seconds ?? 0)) return
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: retention },
    })
  } catch (error) {
    if (!hasCode(error, notFound)) throw error
    await connection.workflowService
      .registerNamespace({
        namespace,
        description: config.description,
        workflowExecutionRetentionPeriod: retention,
      })
      .catch(ignoreAlreadyThere)
  }
}

/** Adds the search attributes that are missing. */
async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  config: NamespaceConfig,
): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace })
  const wanted = Object.entries(config.searchAttributes)
  const missing = wanted.filter(([name]) => customAttributes[name] === undefined)
  for (const [name, kind] of wanted) {
    const found: number | undefined = customAttributes[name]
    if (found !== undefined && found !== searchAttributeKinds[kind]) {
      throw new WrongAttributeType(
        `search attribute ${name} of namespace ${namespace} has another type than ${kind}`,
      )
    }
  }
  if (missing.length === 0) return
  const searchAttributes = Object.fromEntries(
    missing.map(([name, kind]) => [name, searchAttributeKinds[kind]]),
  )
  await connection.operatorService
    .addSearchAttributes({ namespace, searchAttributes })
    .catch(ignoreAlreadyThere)
}

/**
 * Queries by all attributes. A server that lists an attribute may still refuse it from workflows; once the
 * server accepts it in a query, it accepts it from workflows too.
 */
async function askByAttributes(
  connection: Connection,
  namespace: string,
  config: NamespaceConfig,
): Promise<void> {
  const names = Object.keys(config.searchAttributes)
  if (names.length === 0) return
  const query = names.map((name) => `${name} IS NULL`).join(' AND ')
  await connection.workflowService.countWorkflowExecutions({ namespace, query })
}

/** Temporal can not be reached as the settings say. The message says what to do. */
export class UnreachableTemporal extends Error {
  override readonly name = 'UnreachableTemporal'
  constructor({ address, tls }: TemporalServer, cause: unknown) {
    const [how, todo] =
      tls === undefined
        ? ['', 'start it, correct TEMPORAL_ADDRESS, or set TEMPORAL_TLS if it takes TLS alone']
        : [' by TLS', 'start it, or correct TEMPORAL_ADDRESS and the settings TEMPORAL_TLS_...']
    super(`Temporal at ${address} can not be reached${how}: ${reasonOf(cause)}: ${todo}`, { cause })
  }
}

/** A search attribute exists with another type than the configured one. */
export class WrongAttributeType extends Error {
  override readonly name = 'WrongAttributeType'
}

async function untilVisible(attempt: () => Promise<void>): Promise<void> {
  const deadlineMs = Date.now() + visibleLimitMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof WrongAttributeType || Date.now() > deadlineMs) throw error
      await delay(pollMs)
    }
  }
}

function ignoreAlreadyThere(error: unknown): void {
  if (!hasCode(error, alreadyExists)) throw error
}

function hasCode(error: unknown, code: number): boolean {
  if (!isGrpcServiceError(error)) return false
  const found: number = error.code
  return found === code
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
