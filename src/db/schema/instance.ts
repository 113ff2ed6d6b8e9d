import { defineEntity, p } from '@mikro-orm/postgresql'
import type { PlacementReason } from '../../domain/host/placement.ts'
import type { HostFailure } from '../../domain/instance/host-work.ts'
import type { InstanceMove } from '../../domain/instance/projection.ts'
import { InstanceState } from '../../domain/instance/state.ts'
import { RestartPolicy } from '../../domain/instance/restart-policy.ts'
import { ScaleToZeroPolicy, defaultCooldownMs } from '../../domain/standby/scale-to-zero.ts'
import { StartKind } from '../../domain/instance/start-report.ts'
import { Node } from './node.ts'
import { Service } from './service.ts'
import { User } from './user.ts'
import { Volume } from './volume.ts'

/**
 * An instance. The columns before `revision` say what the user asked for and where the instance was placed.
 * Changes by the user write there (`src/db/instance/change.ts`), as do attaching a volume and the platform's
 * own marks, such as `deletedAt`. The columns from `revision` on are the projection of the life, which the
 * instance's workflow writes. A row with `deletedAt` is invisible to every reader. It stays until the host
 * has removed the instance.
 */
export const Instance = defineEntity({
  name: 'Instance',
  tableName: 'instances',
  indexes: [
    // These two hold all that lists of names show, so that PostgreSQL reads no rows for them.
    {
      name: 'instances_page_index',
      expression:
        'create index instances_page_index on instances (user_uuid, position) include (uuid, name) where deleted_at is null',
    },
    {
      name: 'instances_state_index',
      expression:
        'create index instances_state_index on instances (user_uuid, state, position) include (uuid, name) where deleted_at is null',
    },
    {
      name: 'instances_node_live_index',
      expression:
        "create index instances_node_live_index on instances (node_id, memory_mb) where state <> 'stopped'",
    },
    {
      name: 'instances_node_promised_index',
      expression:
        'create index instances_node_promised_index on instances (node_id) include (memory_mb, vcpus)',
    },
    {
      name: 'instances_host_users_index',
      expression:
        'create index instances_host_users_index on instances (node_id, user_uuid, feed_xid) where deleted_at is null',
    },
    {
      name: 'instances_unstarted_index',
      expression:
        'create index instances_unstarted_index on instances (created_at) where workflow_started_at is null',
    },
    {
      name: 'instances_retired_index',
      expression:
        'create index instances_retired_index on instances (retired_at) where retired_at is not null and deleted_at is null',
    },
    {
      name: 'instances_deleted_index',
      expression:
        'create index instances_deleted_index on instances (deleted_at) where deleted_at is not null',
    },
    {
      // Their addresses are of other hosts' networks, which give them to no other instance.
      name: 'instances_moved_index',
      expression: 'create index instances_moved_index on instances (private_ip) where seat_ip is not null',
    },
    {
      name: 'instances_arriving_index',
      expression:
        "create index instances_arriving_index on instances ((move -> 'to' ->> 'nodeId')) where move is not null",
    },
    {
      name: 'instances_untold_index',
      expression:
        'create index instances_untold_index on instances (created_at) where config_version > told_version',
    },
  ],
  uniques: [
    {
      name: 'instances_name_unique',
      expression:
        'create unique index instances_name_unique on instances (user_uuid, name) where deleted_at is null',
    },
    {
      // No two instances have the same volume. A deleted instance has none, even if its host has not removed
      // it yet.
      name: 'instances_volume_unique',
      expression:
        'create unique index instances_volume_unique on instances (volume_uuid) where deleted_at is null',
    },
    { name: 'instances_address_unique', properties: ['node', 'privateIp'] },
    { name: 'instances_seat_unique', properties: ['node', 'seatIp'] },
  ],
  properties: {
    uuid: p.uuid().primary(),
    /** The order of creation, which is the order of every list. */
    position: p.bigint('number').autoincrement(),
    user: () => p.manyToOne(User),
    node: () => p.manyToOne(Node),
    name: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    deletedAt: p.datetime(3).nullable(),
    workflowStartedAt: p.datetime(3).nullable(),

    /** `<repository>@sha256:<hex>` with the repository as the registry knows it. */
    image: p.text(),
    memoryMb: p.integer(),
    vcpus: p.integer(),
    /** The application's arguments. Null: those of the image. */
    args: p.json<readonly string[]>().nullable(),
    /** A JSON object, sealed by the secret box; `openEnv` opens it. */
    envSealed: p.text(),
    autostart: p.boolean(),
    deleteOnStop: p.boolean(),
    restartPolicy: p.enum(() => RestartPolicy),
    service: () => p.manyToOne(Service).nullable().index('instances_service_index'),
    standbyPolicy: p.enum(() => ScaleToZeroPolicy).default(ScaleToZeroPolicy.Off),
    standbyCooldownMs: p.integer().default(defaultCooldownMs),
    standbyStateful: p.boolean().default(false),
    /** The attached volume. It changes only while the instance is stopped. */
    volume: () => p.manyToOne(Volume).nullable().deleteRule('set null'),
    volumeAt: p.text().nullable(),
    volumeReadonly: p.boolean().default(false),
    /** The master from which autoscale made this instance. */
    cloneOf: p.uuid().nullable(),
    /**
     * Since when autoscale gives the instance back, and how long it may drain. The instance is deleted when
     * it has stopped.
     */
    retiredAt: p.datetime(3).nullable(),
    retireDrainMs: p.integer().nullable(),
    /**
     * The rollout that brings this instance in. If the instance is with no service, the rollout keeps it as
     * the way back.
     */
    rolloutUuid: p.uuid().nullable().index('instances_rollout_index'),
    /** The instance that this one replaces in a rollout. */
    replaces: p.uuid().nullable(),
    /** The network, the address and the hardware address of the instance's one interface. */
    networkUuid: p.uuid(),
    privateIp: p.text(),
    /**
     * The address of its host's network that is kept free for an instance whose own address is of another
     * host's, because it moved. Null: its own address is of its host's network.
     */
    seatIp: p.text().nullable(),
    mac: p.text(),
    /** Why it was placed on its host. Null: nothing is known, or there was no other host. */
    placement: p.json<PlacementReason>().nullable(),

    /** Words by which the user finds the instance. */
    tags: p.json<readonly string[]>().defaultRaw("'[]'"),
    /** How often the configuration was changed. */
    configVersion: p.integer().default(0),
    /** The version of the last change of each property with which a boot is launched. */
    changedProperties: p.json<Readonly<Record<string, number>>>().defaultRaw("'{}'"),
    /** A boot, or a kept memory, with an older configuration is to be replaced, after draining so long. */
    renewBelow: p.integer().default(0),
    renewDrainMs: p.integer().default(0),
    /**
     * What the boot that runs may have beyond the present configuration, until a newer boot runs: it counts
     * against the quotas.
     */
    heldMemoryMb: p.integer().default(0),
    heldVcpus: p.integer().default(0),

    /** Until this time an admitted start counts against the live quotas, although the state says stopped. */
    liveReservedUntil: p.datetime(3).nullable(),

    revision: p.bigint('number').default(0),
    state: p.enum(() => InstanceState),
    stateSince: p.datetime(3).defaultRaw('now()'),
    boot: p.integer().default(0),
    startCount: p.integer().default(0),
    restartCount: p.integer().default(0),
    restartAttempt: p.integer().default(0),
    restartNextAt: p.datetime(3).nullable(),
    startedAt: p.datetime(3).nullable(),
    stoppedAt: p.datetime(3).nullable(),
    /**
     * The duration of all runs that ended. While the instance runs, readers add the time since `startedAt`.
     */
    uptimeMs: p.bigint('number').default(0),
    bootTimeUs: p.bigint('number').nullable(),
    vmmStartTimeUs: p.bigint('number').nullable(),
    vmmLoadTimeUs: p.bigint('number').nullable(),
    vmmReadyTimeUs: p.bigint('number').nullable(),
    netTimeUs: p.bigint('number').nullable(),
    startKind: p.enum(() => StartKind).nullable(),
    stopReason: p.integer().nullable(),
    exitCode: p.integer().nullable(),
    stopCode: p.bigint('number').nullable(),
    failure: p.text().nullable(),
    failureKind: p.text().$type<HostFailure>().nullable(),
    snapshotUuid: p.uuid().nullable(),
    standbyDisabled: p.boolean().default(false),
    /** A user asked for the present standby, or for one that has not come yet. */
    suspended: p.boolean().default(false),
    /** The move to another host that is under way, or the last one if it failed. */
    move: p.json<InstanceMove>().nullable(),
    launchedVersion: p.integer().default(0),
    toldVersion: p.integer().default(0),
    restarting: p.boolean().default(false),
    /**
     * The last transaction that changed anything that the route feed shows of this row. A trigger writes it.
     */
    feedXid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()').index('instances_feed_index'),
  },
})
