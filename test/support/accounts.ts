import { strict as assert } from 'node:assert'
import { randomBytes } from 'node:crypto'
import type { Database } from '../../src/db/database.ts'
import { createSecretBox, secretKeyBytes } from '../../src/db/secret-box.ts'
import type { NewInstances } from '../../src/db/instance/new-instances.ts'
import { recordHeartbeat } from '../../src/db/host/hosts.ts'
import { createUser } from '../../src/db/account/users.ts'
import type { NewUser, UserRecord } from '../../src/db/account/users.ts'
import type { HostUpgrade } from '../../src/domain/host/upgrade.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'
import { readRows } from './rows.ts'

/** This file makes what most tests of the database begin with: a user, a host, a request for an instance. */
export const testSecretBox = createSecretBox(randomBytes(secretKeyBytes))
export const testImage = `official/hello@sha256:${'0123456789abcdef'.repeat(4)}`

export async function addUser(database: Database, user: NewUser): Promise<UserRecord> {
  const outcome = await createUser(database, user)
  assert.ok(outcome.ok, `user ${user.name} was refused`)
  return outcome.user
}

export interface TestNode {
  readonly id?: string
  readonly memoryMb?: number
  /** Absent: the agent does not tell. */
  readonly cpus?: number
  readonly volumeMb?: number
  readonly imageBytes?: Readonly<Record<string, number>>
  readonly agentSecret?: string
  readonly agentUrl?: string
  readonly upgrade?: HostUpgrade
}

export async function addNode(database: Database, node: TestNode = {}): Promise<string> {
  const id = await hearNode(database, node)
  await keepLive(database, id)
  return id
}

/** Records one heartbeat of the host. A test that takes long may find that the host counts as silent. */
export async function hearNode(database: Database, node: TestNode = {}): Promise<string> {
  const id = node.id ?? 'local'
  const assignment = await recordHeartbeat(
    { database, secretBox: testSecretBox },
    { id, firstSubnet: '10.64.0.0/20' },
    {
      agentUrl: node.agentUrl ?? 'http://127.0.0.1:7171',
      agentSecret: node.agentSecret ?? testAgentSecret(id),
      accelerator: 'fake',
      memoryMb: node.memoryMb ?? 65_536,
      ...(node.cpus !== undefined && { cpus: node.cpus }),
      volumeMb: node.volumeMb ?? 1_048_576,
      imageBytes: node.imageBytes ?? {},
      occupiedSubnets: [],
      version: '0.1.0',
      ...(node.upgrade !== undefined && { upgrade: node.upgrade }),
    },
  )
  assert.ok(assignment !== undefined, `node ${id} was refused`)
  return id
}

/**
 * Dates the host's last heartbeat one hour ahead, so that the host does not count as silent during a test.
 */
export async function keepLive(database: Database, nodeId: string): Promise<void> {
  await readRows(database, {
    text: "update nodes set heartbeat_at = now() + interval '1 h' where id = $1",
    values: [nodeId],
  })
}

/** The agent's secret that `addNode` and `hearNode` record unless the test gives another one. */
export function testAgentSecret(nodeId: string): string {
  return `the-secret-of-${nodeId}`
}

export function wantedInstance(
  user: UserRecord | { readonly uuid: string },
  wanted: Partial<NewInstances> = {},
): NewInstances {
  return {
    userUuid: user.uuid,
    image: testImage,
    memoryMb: 128,
    vcpus: 1,
    env: {},
    restartPolicy: RestartPolicy.Never,
    deleteOnStop: false,
    autostart: false,
    replicas: 0,
    ...wanted,
  }
}
