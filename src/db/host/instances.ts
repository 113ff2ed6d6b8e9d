import { strict as assert } from 'node:assert'
import type { LaunchSpec, LaunchVolume, NodeInstance } from '../../domain/host/api-protocol.ts'
import type { Database } from '../database.ts'
import { instanceColumns, openEnv, scaleToZeroOf } from '../instance/row.ts'
import type { InstanceRow } from '../instance/row.ts'
import type { SecretBox } from '../secret-box.ts'

/** What a host needs to start the instance; undefined where it is deleted or not of that host. */
export async function loadLaunchSpec(
  deps: { readonly database: Database; readonly secretBox: SecretBox },
  wanted: { readonly nodeId: string; readonly uuid: string },
): Promise<LaunchSpec | undefined> {
  const [row] = await deps.database.rows<LaunchRow>({
    name: 'launch-spec',
    text: `select ${instanceColumns},
             (select json_build_object('uuid', uuid, 'sizeMb', size_mb, 'made', made)
                from volumes where uuid = instances.volume_uuid) as volume,
             (select hard_image_mb from users where uuid = instances.user_uuid) as "imageQuotaMb"
           from instances where uuid = $1 and node_id = $2 and deleted_at is null`,
    values: [wanted.uuid, wanted.nodeId],
  })
  if (!row) return undefined
  const { uuid, name, userUuid, image, imageQuotaMb, memoryMb, vcpus, args, privateIp, mac } = row
  const spec = {
    uuid,
    name,
    userUuid,
    image,
    imageQuotaMb,
    memoryMb,
    vcpus,
    privateIp,
    mac,
    env: openEnv(deps.secretBox, row),
    scaleToZero: scaleToZeroOf(row),
  }
  const volume = launchVolume(row)
  return { ...spec, ...(args !== null && { args }), ...(volume && { volume }) }
}

interface LaunchRow extends InstanceRow {
  readonly volume: StoredVolume | null
  readonly imageQuotaMb: number
}

type StoredVolume = Pick<LaunchVolume, 'uuid' | 'sizeMb' | 'made'>

function launchVolume(
  row: Pick<InstanceRow, 'volumeAt' | 'volumeReadonly'> & { readonly volume: StoredVolume | null },
): LaunchVolume | undefined {
  if (row.volume === null) return undefined
  assert(row.volumeAt !== null, 'an attached volume has a place to be mounted')
  return { ...row.volume, at: row.volumeAt, readonly: row.volumeReadonly }
}

/**
 * Every instance whose row is placed on the host, also those that are deleted and wait for its cleaning up.
 */
export async function instancesOfNode(database: Database, nodeId: string): Promise<readonly NodeInstance[]> {
  return database.rows<NodeInstance>({
    name: 'instances-of-node',
    text: 'select uuid, state, boot from instances where node_id = $1 order by position',
    values: [nodeId],
  })
}

/** `<repository>@sha256:<hex>` of every instance on the host: what its image store has to keep. */
export async function imagesInUse(database: Database, nodeId: string): Promise<readonly string[]> {
  const rows = await database.rows<{ image: string }>({
    name: 'images-in-use',
    text: 'select distinct image from instances where node_id = $1 order by image',
    values: [nodeId],
  })
  return rows.map((row) => row.image)
}
