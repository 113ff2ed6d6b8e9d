import assert from 'node:assert/strict'
import { makeMove } from '../../src/db/rollout/moves.ts'
import type { RowMove } from '../../src/db/rollout/moves.ts'
import { listRollouts } from '../../src/db/rollout/records.ts'
import type { RolloutRow } from '../../src/db/rollout/row.ts'
import { testSecretBox } from './accounts.ts'
import type { TestApi } from './api-server.ts'

export async function newestRollout(api: TestApi, serviceUuid: string): Promise<RolloutRow | undefined> {
  return (await listRollouts(api.database, serviceUuid, 1))[0]
}

/** Does what the workflow of the newest rollout of a service would do: a test API has none. */
export async function makeMoves(api: TestApi, serviceUuid: string, moves: readonly RowMove[]): Promise<void> {
  for (const move of moves) {
    const rollout = await newestRollout(api, serviceUuid)
    assert.ok(rollout)
    await makeMove({ database: api.database, secretBox: testSecretBox }, rollout, move)
  }
}
