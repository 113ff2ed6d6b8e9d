import { strict as assert } from 'node:assert'
import type { Asker } from '../../domain/event/asker.ts'
import { findVolumeLimitBreach, volumeDemand } from '../../domain/account/quotas.ts'
import type { Database } from '../database.ts'
import { insertVolumes } from './insert.ts'
import { placeVolume } from '../instance/placement.ts'
import { quotasOf, refuseExcess } from '../account/quotas.ts'
import { randomSuffix } from '../random-suffix.ts'
import type { RandomSuffix } from '../random-suffix.ts'
import { Refused, orRefusal } from '../refused.ts'
import type { WriteRefusal } from '../refused.ts'
import { lockUser } from '../account/user-lock.ts'
import { readVolume } from './row.ts'
import type { VolumeRow } from './row.ts'

export type CreateVolumeOutcome =
  { readonly ok: true; readonly volume: VolumeRow } | { readonly ok: false; readonly refusal: WriteRefusal }

/**
 * Writes one persistent volume on the live host with most room for volumes, in one transaction under the
 * lock of the user's row. The volume's workflow is not started.
 */
export async function createVolume(
  deps: { readonly database: Database; readonly randomSuffix?: RandomSuffix },
  wanted: {
    readonly userUuid: string
    readonly name?: string
    readonly sizeMb: number
    readonly asker?: Asker
  },
): Promise<CreateVolumeOutcome> {
  const { userUuid, name, sizeMb, asker } = wanted
  const written = await orRefusal(() =>
    deps.database.db.transaction().execute(async (db) => {
      const user = await lockUser(db, userUuid)
      const quotas = await quotasOf(db, user)
      const breach = findVolumeLimitBreach(quotas.limits, sizeMb)
      if (breach) throw new Refused({ kind: 'limit', breach })
      refuseExcess(quotas, volumeDemand(sizeMb, 1))
      const nodeIds = [await placeVolume(db, sizeMb)]
      const suffix = deps.randomSuffix ?? randomSuffix
      const writer = { userUuid, randomSuffix: suffix, ...(asker && { asker }) }
      const [uuid] = await insertVolumes(db, writer, {
        ...(name !== undefined && { name }),
        nodeIds,
        sizeMb,
        persistent: true,
      })
      const volume = await readVolume(db, uuid!)
      assert(volume, 'a transaction reads what it wrote')
      return volume
    }),
  )
  return written.ok ? { ok: true, volume: written.value } : written
}
