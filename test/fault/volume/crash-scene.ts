import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { startSweepLoop } from '../../../src/control/sweep-loop.ts'
import { createSweep } from '../../../src/control/sweep.ts'
import { sweptEntities } from '../../../src/control/swept-entity.ts'
import { openTemporalControl } from '../../../src/control/temporal-control.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { imagePath } from '../../../src/host/volumes/volume-directory.ts'
import { lookOver } from '../../host/volumes/image.ts'
import { addNode, addUser } from '../../support/accounts.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { volumeWorkflowId } from '../../../workflows/volume/messages.ts'
import { arrives, openCrashStage, workflowIsOver } from '../crash-stage.ts'
import { startMortalPart } from '../mortal-part.ts'
import type { MortalPart } from '../mortal-part.ts'
import type { CrashPartOptions } from './crash-part.ts'
import { readRows } from '../../support/rows.ts'

const sizeMb = 8
export interface CrashScene {
  startWorker(point?: string): Promise<MortalPart>
  /**
   * A volume on its own host. Only the sweep starts its workflow and later tells it of the deletion, as if
   * the API died after each write of the row.
   */
  newHost(): Promise<CrashHost>
  /** Ends the workers and agents that still live. */
  endParts(): Promise<void>
  close(): Promise<void>
}

export interface CrashHost {
  startAgent(point?: string): Promise<MortalPart>
  create(): Promise<void>
  delete(): Promise<void>
  /**
   * The inode number of the complete file on disk, which tells one file from another. Undefined if there is
   * no such file.
   */
  complete(): Promise<number | undefined>
  /** Resolves when the row says ready. Asserts that there is exactly one sound file. */
  isReady(): Promise<void>
  /** Resolves when there is no row. Asserts that there is no file. */
  isGone(): Promise<void>
}

export async function openCrashScene(): Promise<CrashScene> {
  const stage = await openCrashStage('volume')
  const { env, bundle } = stage
  const own = await createTestDatabase()
  const database = await openDatabase({ url: own.url, applicationName: 'crash test' })
  const place = placeOf(env)
  const control = openTemporalControl(place)
  const entities = sweptEntities(database, control)
  // The time in a row is rounded, so a new row may seem to be from the future. With this bound it is swept
  // at once all the same.
  const sweep = createSweep({ entities, nowMs: Date.now, olderThanMs: -1_000 })
  const sweeps = startSweepLoop(sweep, { onSwept: () => undefined, onFailure: () => undefined })
  const userUuid = (await addUser(database, { name: 'ann' })).uuid
  const parts: MortalPart[] = []
  const start = async (options: Omit<CrashPartOptions, 'place'>): Promise<MortalPart> => {
    const part = startMortalPart('volume/crash-part', { place, ...options } satisfies CrashPartOptions)
    parts.push(part)
    await part.ready
    return part
  }
  const endParts = async (): Promise<void> => {
    for (const part of parts.splice(0)) await part.end()
  }
  return {
    startWorker: (point) =>
      start({
        role: { kind: 'worker', databaseUrl: own.url, bundle },
        ...(point === undefined ? {} : { point }),
      }),
    async newHost() {
      const nodeId = await addNode(database, { id: `node-${randomUUID().slice(0, 8)}` })
      const directory = path.join(stage.directory, nodeId)
      const isOver = (uuid: string): Promise<void> =>
        workflowIsOver(env, { namespace: place.namespace, id: volumeWorkflowId(uuid) })
      return hostOf({ database, nodeId, userUuid, directory, start, isOver })
    },
    endParts,
    async close() {
      await endParts()
      await sweeps.stop()
      await control.close()
      await database.close()
      await own.drop()
      await stage.close()
    },
  }
}

function placeOf(env: TestWorkflowEnvironment): CrashPartOptions['place'] {
  return { address: env.connection.options.address, namespace: env.namespace ?? 'default' }
}

function hostOf(of: {
  readonly database: Database
  readonly nodeId: string
  readonly userUuid: string
  readonly directory: string
  /** Resolves when the workflow of that volume has ended. */
  readonly isOver: (uuid: string) => Promise<void>
  readonly start: (options: Omit<CrashPartOptions, 'place'>) => Promise<MortalPart>
}): CrashHost {
  const { database, nodeId, userUuid, directory, start } = of
  const uuid = randomUUID()
  const row = async (): Promise<{ readonly phase: string; readonly made: boolean } | undefined> => {
    const text = 'select phase, made from volumes where uuid = $1'
    return (await readRows<{ phase: string; made: boolean }>(database, { text, values: [uuid] }))[0]
  }
  const complete = async (): Promise<number | undefined> =>
    stat(imagePath(directory, uuid)).then(
      ({ ino }) => ino,
      () => undefined,
    )
  return {
    complete,
    startAgent: (point) =>
      start({ role: { kind: 'agent', nodeId, directory }, ...(point === undefined ? {} : { point }) }),
    async create() {
      await readRows(database, {
        text: `insert into volumes (uuid, user_uuid, node_id, name, size_mb, persistent) values ($1, $2, $3, $4, $5, true)`,
        values: [uuid, userUuid, nodeId, `vol-${nodeId}`, sizeMb],
      })
    },
    async delete() {
      const text = 'update volumes set deleted_at = now() where uuid = $1'
      await readRows(database, { text, values: [uuid] })
    },
    async isReady() {
      await until('the row says ready', async () => (await row())?.phase === 'ready', arrives)
      assert.deepEqual(await row(), { phase: 'ready', made: true })
      assert.deepEqual(await readdir(directory), [uuid])
      const image = imagePath(directory, uuid)
      assert.equal((await stat(image)).size, sizeMb * 1024 * 1024)
      const { code, said } = await lookOver(image)
      assert.equal(code, 0, said)
    },
    async isGone() {
      await until('the row is gone', async () => (await row()) === undefined, arrives)
      // Otherwise the next worker would have to finish this workflow, and might come to its point of death
      // there.
      await of.isOver(uuid)
      assert.deepEqual(await readdir(directory), [])
    },
  }
}
