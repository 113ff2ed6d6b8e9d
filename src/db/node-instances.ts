import type { LaunchSpec, NodeInstance } from '../domain/node-protocol.ts'
import type { Database } from './database.ts'
import { instanceColumns, openEnv } from './instance-row.ts'
import type { InstanceRow } from './instance-row.ts'
import type { SecretBox } from './secret-box.ts'

/** What a host needs to start the instance; undefined where it is deleted or not of that host. */
export async function loadLaunchSpec(
  deps: { readonly database: Database; readonly secretBox: SecretBox },
  wanted: { readonly nodeId: string; readonly uuid: string },
): Promise<LaunchSpec | undefined> {
  const [row] = await deps.database.rows<InstanceRow>({
    name: 'launch-spec',
    text: `select ${instanceColumns} from instances where uuid = $1 and node_id = $2 and deleted_at is null`,
    values: [wanted.uuid, wanted.nodeId],
  })
  if (!row) return undefined
  const { uuid, name, userUuid, image, memoryMb, vcpus, args, privateIp, mac } = row
  const spec = {
    uuid,
    name,
    userUuid,
    image,
    memoryMb,
    vcpus,
    privateIp,
    mac,
    env: openEnv(deps.secretBox, row),
  }
  return args === null ? spec : { ...spec, args }
}

/** Every instance whose row is placed on the host, also those that are deleted and wait for its cleaning up. */
export async function instancesOfNode(database: Database, nodeId: string): Promise<readonly NodeInstance[]> {
  return database.rows<NodeInstance>({
    name: 'instances-of-node',
    text: 'select uuid, state from instances where node_id = $1 order by position',
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
