import assert from 'node:assert/strict'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker } from '@temporalio/worker'
import { startSweepLoop } from '../../../src/control/sweep-loop.ts'
import { createSweep } from '../../../src/control/sweep.ts'
import { sweptEntities } from '../../../src/control/swept-entity.ts'
import { openTemporalControl } from '../../../src/control/temporal-control.ts'
import { deleteAutoscale } from '../../../src/db/autoscale/configurations.ts'
import { insertInstances } from '../../../src/db/instance/create.ts'
import { openDatabase } from '../../../src/db/database.ts'
import type { Database } from '../../../src/db/database.ts'
import { createSecretBox, generateSecretKey, parseSecretKey } from '../../../src/db/secret-box.ts'
import { workflowSettings } from '../../../src/db/instance/settings.ts'
import type { AutoscaleSettings } from '../../../src/domain/autoscale/settings.ts'
import { nodeTaskQueue } from '../../../src/domain/instance/host-work.ts'
import type { HostActivities } from '../../../src/domain/instance/host-work.ts'
import type { InstanceSettings } from '../../../src/domain/instance/settings.ts'
import { resolvePorts } from '../../../src/domain/service/ports.ts'
import { autoscaleWorkflowId } from '../../../workflows/autoscale/messages.ts'
import { addNode, addUser, wantedInstance } from '../../support/accounts.ts'
import { FakeHost } from '../../support/fake-host.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { arrives, newNamespace, openCrashStage, repeatedly, workflowIsOver } from '../crash-stage.ts'
import type { CrashStage } from '../crash-stage.ts'
import type { AutoscaleCrashOptions } from './crash-part.ts'
import { startMortalPart } from '../mortal-part.ts'
import type { MortalPart } from '../mortal-part.ts'
import { readRows } from '../../support/rows.ts'

const nodeId = 'local'
/** The secret key is shared with the workers, which are other processes. */
export const secretKey = generateSecretKey()

export interface CrashInstance {
  readonly name: string
  readonly isClone: boolean
  readonly isLeaving: boolean
  readonly state: string
}

/**
 * One autoscaled service. It has its own namespace on the server, its own database and its own host, so that
 * many services can be tested side by side.
 */
export interface CrashService {
  startWorker(wanted: number, point?: string): CrashWorker
  begin(): Promise<void>
  stopMaster(): Promise<void>
  /** Removes the configuration, as the API does. */
  unconfigure(): Promise<void>
  /** All instances of the service, with those that are given back or deleted and still have a row. */
  instances(): Promise<readonly CrashInstance[]>
  /** Resolves when `count` instances run and no other row is left. */
  runs(count: number): Promise<void>
  /** Sums over all decisions that are kept: how many instances were added and given back. */
  decided(): Promise<{ readonly added: number; readonly givenBack: number }>
  /** Resolves when the configuration and its workflow are gone. */
  isUnconfigured(): Promise<void>
  /** The number of VMs that run on the host. */
  virtualMachines(): number
  close(): Promise<void>
}

export type CrashWorker = MortalPart

export interface AutoscaleCrashScene {
  newService(): Promise<CrashService>
  close(): Promise<void>
}

export async function openAutoscaleCrashScene(): Promise<AutoscaleCrashScene> {
  const stage = await openCrashStage('autoscale')
  return { newService: () => newService(stage), close: () => stage.close() }
}

async function newService({ env, bundle }: CrashStage): Promise<CrashService> {
  const own = await createTestDatabase()
  const database = await openDatabase({ url: own.url, applicationName: 'crash test', poolSize: 4 })
  const namespace = await newNamespace(env)
  const place = { address: env.connection.options.address, namespace }
  const control = openTemporalControl(place)
  await addNode(database)
  const { master, settings } = await insertService(database)
  const hosts = new Map<string, FakeHost>()
  const hostWorker = await runHost(env, namespace, hosts)
  const sweep = createSweep({
    entities: sweptEntities(database, control),
    nowMs: Date.now,
    olderThanMs: 5_000,
  })
  const sweeps = startSweepLoop(sweep, { onSwept: () => undefined, onFailure: () => undefined })
  const parts: CrashWorker[] = []
  const instances = (): Promise<CrashInstance[]> => readInstances(database, settings.serviceUuid)
  return {
    startWorker(wanted, point) {
      const part = startMortalPart('autoscale/crash-part', {
        place,
        databaseUrl: own.url,
        bundle,
        secretKey,
        wanted,
        ...(point !== undefined && { point }),
      } satisfies AutoscaleCrashOptions)
      parts.push(part)
      return part
    },
    async begin() {
      await repeatedly('the master is begun', () => control.instances.ensureStarted(master))
      await repeatedly('it is configured', () => control.autoscales.configured(settings))
    },
    async stopMaster() {
      const request = { force: true, drainTimeoutMs: 0 }
      await repeatedly('the master is stopped', () => control.instances.stop(master, request, 'stop'))
      const isStopped = async () => (await instances())[0]?.state === 'stopped'
      await until('its row says so', isStopped, arrives)
    },
    async unconfigure() {
      const deleted = await deleteAutoscale(database, settings.userUuid, settings.serviceUuid)
      assert.ok(deleted.ok)
      await control.autoscales.delete(settings).catch(() => undefined)
    },
    instances,
    async runs(count) {
      const isIt = async (): Promise<boolean> => {
        const all = await instances()
        return all.length === count && all.every(({ state, isLeaving }) => state === 'running' && !isLeaving)
      }
      await until(`${count} run and no more are there`, isIt, arrives)
    },
    decided: () => readDecided(database),
    async isUnconfigured() {
      const text = 'select 1 from autoscale_configurations'
      const isGone = async () => (await readRows(database, { text })).length === 0
      await until('the configuration is gone', isGone, arrives)
      await workflowIsOver(env, { namespace, id: autoscaleWorkflowId(settings.serviceUuid) })
    },
    virtualMachines: () => [...hosts.values()].filter(({ running }) => running.size > 0).length,
    async close() {
      for (const part of parts) await part.end()
      await sweeps.stop()
      hostWorker.shutdown()
      await hostWorker.ended
      await control.close()
      await database.close()
      await own.drop()
    },
  }
}

/** Writes a service with a configuration and its master, an instance that nobody starts. */
export async function insertService(
  database: Database,
): Promise<{ readonly master: InstanceSettings; readonly settings: AutoscaleSettings }> {
  const user = await addUser(database, { name: 'ann' })
  const resolved = resolvePorts([{ port: 443 }])
  assert.ok(resolved.ok)
  const service = {
    ports: resolved.ports,
    domains: [],
    softLimit: 1,
    hardLimit: 100,
    metroDomain: 'metro.test',
  }
  const made = await insertInstances(
    { database, secretBox: createSecretBox(parseSecretKey(secretKey)) },
    wantedInstance(user, { name: 'web', autostart: true, service: { made: service } }),
  )
  assert.ok(made.ok, JSON.stringify(made))
  const [row] = made.instances
  assert.ok(row?.serviceUuid)
  await readRows(database, {
    text: `insert into autoscale_configurations
             (service_uuid, user_uuid, master_uuid, min_size, max_size, warmup_ms, cooldown_ms, policies)
           values ($1, $2, $3, 1, 8, 0, 0, '[]'::jsonb)`,
    values: [row.serviceUuid, user.uuid, row.uuid],
  })
  await readRows(database, { text: 'update services set persistent = true' })
  const settings = { serviceUuid: row.serviceUuid, serviceName: 'shop', userUuid: user.uuid }
  return { master: workflowSettings(row), settings }
}

function readInstances(database: Database, serviceUuid: string): Promise<CrashInstance[]> {
  return readRows<CrashInstance>(database, {
    text: `select name, clone_of is not null as "isClone", state,
             (retired_at is not null or deleted_at is not null) as "isLeaving"
           from instances where service_uuid = $1 or clone_of is not null order by position`,
    values: [serviceUuid],
  })
}

async function readDecided(database: Database): Promise<{ added: number; givenBack: number }> {
  const [sums] = await readRows<{ added: number; givenBack: number }>(database, {
    text: `select coalesce(sum(jsonb_array_length(report->'added')), 0)::int as added,
             coalesce(sum(jsonb_array_length(report->'givenBack')), 0)::int as "givenBack" from autoscale_decisions`,
  })
  assert.ok(sums)
  return { ...sums }
}

async function runHost(
  env: TestWorkflowEnvironment,
  namespace: string,
  hosts: Map<string, FakeHost>,
): Promise<{ shutdown(): void; readonly ended: Promise<void> }> {
  const hostOf = (uuid: string): HostActivities => {
    const host = hosts.get(uuid) ?? new FakeHost({ nowMs: Date.now })
    hosts.set(uuid, host)
    return host.activities
  }
  const activities: HostActivities = {
    startInstance: (input) => hostOf(input.instanceUuid).startInstance(input),
    stopInstance: (input) => hostOf(input.instanceUuid).stopInstance(input),
    removeInstance: (input) => hostOf(input.instanceUuid).removeInstance(input),
    standByInstance: (input) => hostOf(input.instanceUuid).standByInstance(input),
    drainInstance: (input) => hostOf(input.instanceUuid).drainInstance(input),
    changeInstance: (input) => hostOf(input.instanceUuid).changeInstance(input),
  }
  const { nativeConnection: connection } = env
  const worker = await Worker.create({ connection, namespace, taskQueue: nodeTaskQueue(nodeId), activities })
  return { shutdown: () => worker.shutdown(), ended: worker.run() }
}
