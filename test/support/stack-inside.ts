import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { openDatabase } from '../../src/db/database.ts'
import type { Database } from '../../src/db/database.ts'
import { certificateKeyContext } from '../../src/db/service/feed-routes.ts'
import { createSecretBox, parseSecretKey } from '../../src/db/secret-box.ts'
import type { Stack } from './stack.ts'
import { readRows } from './rows.ts'

/** The parts of a stack that no user sees: its database and its workflows. */
export interface StackInside {
  readonly database: Database
  readonly workflows: Client['workflow']
  /** The private keys of the present certificates, PEM. */
  privateKeys(): Promise<readonly string[]>
  /** All bytes of the histories that Temporal keeps of all workflows. */
  histories(): Promise<{ readonly count: number; readonly bytes: Buffer }>
  close(): Promise<void>
}

interface Addresses {
  readonly databaseUrl: string
  readonly temporalAddress: string
}

const namespace = 'roost'

export async function openStackInside(stack: Stack): Promise<StackInside> {
  const addresses = readFileSync(path.join(stack.dataDir, 'stack.json'), 'utf8')
  const { databaseUrl, temporalAddress } = JSON.parse(addresses) as Addresses
  const connection = await Connection.connect({ address: temporalAddress })
  const { workflow: workflows } = new Client({ connection, namespace })
  const database = await openDatabase({ url: databaseUrl, applicationName: 'test', poolSize: 2 })
  return {
    database,
    workflows,
    async privateKeys() {
      const secretKey = readFileSync(path.join(stack.dataDir, 'keys', 'secret.key'), 'utf8')
      const box = createSecretBox(parseSecretKey(secretKey))
      const rows = await readRows<{ uuid: string; sealed: string }>(database, {
        text: 'select uuid, key_sealed as sealed from certificates where key_sealed is not null',
      })
      return rows.map(({ uuid, sealed }) => box.open(sealed, certificateKeyContext(uuid)))
    },
    async histories() {
      const found: Buffer[] = []
      let count = 0
      for await (const { workflowId, runId, raw } of workflows.list()) {
        const history = await workflows.getHandle(workflowId, runId).fetchHistory()
        count++
        collect([raw, history], found)
      }
      return { count, bytes: Buffer.concat(found) }
    },
    async close() {
      await Promise.all([database.close(), connection.close()])
    },
  }
}

const separator = Buffer.from('\n')

/** Collects the texts and bytes of a decoded message, at any depth. */
function collect(value: unknown, found: Buffer[]): void {
  if (typeof value === 'string') found.push(Buffer.from(value), separator)
  else if (value instanceof Uint8Array) found.push(Buffer.from(value), separator)
  else if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) collect(inner, found)
  }
}
