import { Type } from 'typebox'
import { changeableProperties } from '../../domain/instance/change.ts'
import { InstanceFeature } from '../../domain/instance/feature.ts'
import { instanceStates } from '../../domain/instance/state.ts'
import { RestartPolicy } from '../../domain/instance/restart-policy.ts'
import { ScaleToZeroPolicy } from '../../domain/standby/scale-to-zero.ts'
import {
  closed,
  count,
  optionalAll,
  statusSuccess,
  timestampField,
  uuidField,
  vocabulary,
} from '../fields.ts'
import { attachedService } from '../service/responses.ts'
import { usageHistory } from '../usage.ts'
import { mountedVolume } from '../volume/responses.ts'

const instanceName = Type.String({ description: 'Name of the instance.' })
const stateField = vocabulary(instanceStates, 'Current state.')

/** The fields of every entry about one instance. `status` is left out if all instances are listed. */
export const instanceIdentity = closed({ uuid: uuidField, name: instanceName })
const identified = { status: statusSuccess, uuid: uuidField, name: instanceName }

export const createdInstance = closed({
  ...identified,
  state: stateField,
  private_fqdn: Type.String(),
  private_ip: Type.String(),
  service_group: Type.Optional(attachedService),
  boot_time_us: Type.Optional(count('Only with `autostart` and `wait_timeout_ms`.')),
})

export const deletedInstance = closed({ ...identified, previous_state: stateField })
export const changedInstance = closed({ ...identified, state: stateField, previous_state: stateField })
export const movedInstance = closed({
  ...identified,
  state: stateField,
  host: Type.String({ description: 'The host on which the instance is.' }),
  is_moving: Type.Boolean({ description: 'The move is not over.' }),
})
const propertyName = vocabulary(changeableProperties, 'A property.')

export const updatedInstance = closed({
  ...identified,
  id: Type.Optional(Type.String({ description: 'The `id` of the change, as the request gave it.' })),
  state: stateField,
  changed: Type.Array(propertyName, { description: 'The properties that are other than before.' }),
  needs_restart: Type.Array(propertyName, {
    description: 'The changed properties that wait for a restart: `restart` brings them about now.',
  }),
  restarting: Type.Boolean({ description: 'It restarts, so that it gets the changes.' }),
  memory_dropped: Type.Boolean({ description: 'It sleeps, and the memory that was kept is dropped.' }),
  note: Type.Optional(
    Type.String({ description: 'What a restart would do, if the instance sleeps with its memory.' }),
  ),
})

export const awaitedInstance = closed({ ...identified, state: stateField })

const traffic = {
  rx_bytes: count('Bytes received, over all starts.'),
  rx_packets: count('Packets received, over all starts.'),
  tx_bytes: count('Bytes sent, over all starts.'),
  tx_packets: count('Packets sent, over all starts.'),
}

const ownUse = {
  rss_bytes: count('Resident memory of the VMM; 0 when stopped.'),
  cpu_time_ms: count('CPU time, over all starts.'),
}

const load = {
  nconns: count('Established inbound connections without HTTP.'),
  nreqs: count('HTTP requests in flight.'),
  nqueued: count('Inbound connections and requests that are queued.'),
  ntotal: count('Inbound connections and requests handled, in total.'),
}

const networkInterface = closed({
  uuid: uuidField,
  private_ip: Type.String(),
  mac: Type.String(),
  ...optionalAll(traffic),
})

const scaleToZero = closed({
  enabled: Type.Boolean({
    description: 'The policy is not off, and the instance does not speak against it at present.',
  }),
  policy: vocabulary(Object.values(ScaleToZeroPolicy), 'When the instance goes to standby.'),
  cooldown_time_ms: count('Idle time before standby.'),
  stateful: Type.Boolean(),
})

const startTimes = {
  vmm_start_time_us: count('To the start of the VMM process. Developers only.'),
  vmm_load_time_us: count('To the loaded kernel and initrd. Developers only.'),
  vmm_ready_time_us: count('To the first instruction of the instance. Developers only.'),
  net_time_us: count('To the first listening socket. Developers only.'),
}

/** The entry with all fields of an instance. */
export const instanceDetails = closed({
  status: Type.Optional(statusSuccess),
  uuid: uuidField,
  name: instanceName,
  created_at: Type.Optional(timestampField),
  state: Type.Optional(stateField),
  image: Type.Optional(
    Type.String({ description: '`<name>@sha256:<hex>`; official images have no user in front.' }),
  ),
  memory_mb: Type.Optional(count('Memory in MiB.')),
  vcpus: Type.Optional(count('Virtual CPUs.')),
  args: Type.Optional(Type.Array(Type.String())),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
  start_count: Type.Optional(count('Starts in total.')),
  restart_count: Type.Optional(count('Restarts by the restart policy in total.')),
  started_at: Type.Optional(timestampField),
  stopped_at: Type.Optional(timestampField),
  uptime_ms: Type.Optional(count('Running time in total.')),
  boot_time_us: Type.Optional(count('From the start to the finished boot of the kernel.')),
  stop_reason: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 31, description: 'Origin of the stop, as bits.' }),
  ),
  exit_code: Type.Optional(count("The application's exit code.")),
  stop_code: Type.Optional(count('Kernel stop code.')),
  restart_policy: Type.Optional(vocabulary(Object.values(RestartPolicy), 'Restart policy.')),
  restart: Type.Optional(
    closed({ attempt: count('Restarts in this sequence.'), next_at: Type.Optional(timestampField) }),
  ),
  features: Type.Optional(Type.Array(vocabulary(Object.values(InstanceFeature), 'Feature.'))),
  scale_to_zero: Type.Optional(scaleToZero),
  snapshot: Type.Optional(closed({ uuid: uuidField }, { description: 'Its memory, where standby kept it.' })),
  failure: Type.Optional(
    Type.String({
      description: 'Why the last start failed; of a wake on traffic too. Gone with the next success.',
    }),
  ),
  service_group: Type.Optional(attachedService),
  tags: Type.Optional(Type.Array(Type.String())),
  updates: Type.Optional(
    Type.Array(
      closed({
        prop: propertyName,
        op: Type.Literal('set'),
        value: Type.Optional(Type.Unknown()),
        status: Type.Literal('pending'),
      }),
      { description: 'Changes that wait for a restart.' },
    ),
  ),
  volumes: Type.Optional(
    Type.Array(mountedVolume, { description: 'The volume that is attached; empty where there is none.' }),
  ),
  clone_of: Type.Optional(
    closed(
      { uuid: uuidField, name: instanceName },
      { description: 'The master that autoscale made it of; only where it did.' },
    ),
  ),
  rollout: Type.Optional(
    closed(
      {
        uuid: uuidField,
        is_new: Type.Boolean({
          description: 'True: the rollout brings it in. False: it is of the old version, as the way back.',
        }),
      },
      { description: 'The rollout that brings it in or keeps it; only where one does.' },
    ),
  ),
  host: Type.Optional(Type.String({ description: 'The host on which it is placed. Administrators only.' })),
  private_fqdn: Type.Optional(Type.String()),
  private_ip: Type.Optional(Type.String()),
  network_interfaces: Type.Optional(Type.Array(networkInterface)),
  ...optionalAll(ownUse),
  ...optionalAll(load),
  ...optionalAll(startTimes),
})

export const instanceLog = closed({
  ...identified,
  output: Type.String({ contentEncoding: 'base64', description: 'The bytes of `range`, in base64.' }),
  available: closed({ start: count('First byte kept.'), end: count('End of the log, exclusive.') }),
  range: closed({ start: count('First byte of `output`.'), end: count('End of `output`, exclusive.') }),
})

export const instanceUsage = closed({ ...identified, ...usageHistory })

export const instanceMetrics = closed({
  status: Type.Optional(statusSuccess),
  uuid: uuidField,
  name: instanceName,
  state: stateField,
  start_count: count('Starts in total.'),
  restart_count: count('Restarts by the restart policy in total.'),
  started_at: Type.Optional(timestampField),
  stopped_at: Type.Optional(timestampField),
  uptime_ms: count('Running time in total.'),
  boot_time_us: Type.Optional(count('Boot time of the last start.')),
  ...ownUse,
  ...traffic,
  ...load,
  net_time_us: Type.Optional(startTimes.net_time_us),
})
