/**
 * The keys of the Compose specification, and what becomes of them. `docs/compose.md` lists the same keys,
 * and a test compares both.
 */

const network = 'a VM has one network, which its host makes'
const kernel =
  'an instance is a VM with a kernel of its own, and an application in it that has all rights there'
const container = 'containers are not used: each service is a VM'
const files = 'put the file into the image, or on a volume'

export const readServiceKeys = [
  'image',
  'build',
  'command',
  'environment',
  'env_file',
  'ports',
  'expose',
  'volumes',
  'depends_on',
  'healthcheck',
  'deploy',
  'scale',
  'restart',
  'mem_limit',
  'cpus',
  'labels',
  'networks',
  'profiles',
  'init',
  'tty',
  'stdin_open',
  'privileged',
  'platform',
  'pull_policy',
  'attach',
] as const

export const refusedServiceKeys: Readonly<Record<string, string>> = {
  annotations: "instances have no annotations; 'labels' become tags",
  blkio_config: 'the disk is divided between users by the platform',
  cap_add: kernel,
  cap_drop: kernel,
  cgroup: container,
  cgroup_parent: container,
  configs: files,
  container_name: "an instance is named '<service>.<project>'; other services reach it by the service's name",
  cpu_count: "give 'cpus'",
  cpu_percent: "give 'cpus'",
  cpu_period: "give 'cpus'",
  cpu_quota: "give 'cpus'",
  cpu_rt_period: container,
  cpu_rt_runtime: container,
  cpu_shares: "users share processors evenly; give 'cpus'",
  cpuset: 'processors of a host are not given to instances one by one',
  credential_spec: container,
  develop: 'files are not watched; push a new image and run `roost up` again',
  device_cgroup_rules: container,
  devices: 'devices of a host are not given to instances',
  dns: 'the names that an instance sees are resolved by its host',
  dns_opt: 'the names that an instance sees are resolved by its host',
  dns_search: 'the names that an instance sees are resolved by its host',
  domainname: "an instance is named '<service>.<project>'",
  entrypoint: "the image's entrypoint is always run; put another one into the image, or use 'command'",
  extends: 'write the service out; anchors and `<<` are understood',
  external_links: "other instances of the account are reached as '<name>.internal'",
  extra_hosts: 'names are resolved by the host; use the address itself',
  gpus: 'hosts have no GPUs for instances',
  group_add: 'the groups of the application are those of the image',
  hostname: "an instance is named '<service>.<project>'",
  ipc: container,
  isolation: container,
  label_file: "write the labels under 'labels'",
  links: 'services of a project find each other by their names; leave it out',
  logging: '`roost logs` has what an application prints; leave it out',
  mac_address: network,
  mem_reservation: "a VM has a fixed memory: give 'mem_limit'",
  mem_swappiness: 'instances do not swap',
  memswap_limit: 'instances do not swap',
  models: 'there are no models; run them as a service',
  network_mode: network,
  oom_kill_disable: kernel,
  oom_score_adj: kernel,
  pid: container,
  pids_limit: 'the processes of a VM are bounded by its memory',
  post_start: 'run it with `roost exec`, or put it into the command',
  pre_start: "put it into the command, or into a service with 'service_completed_successfully'",
  pre_stop: 'the application gets SIGTERM when it is stopped; nothing is run before it',
  provider: 'every service is an instance',
  read_only: 'the file system of an instance can be written, and is new at each start; leave it out',
  runtime: container,
  secrets: "give it as a variable with 'environment' or 'env_file', which are kept encrypted",
  security_opt: kernel,
  shm_size: '/dev/shm takes up to half of the memory of the VM; leave it out',
  stop_grace_period: 'the platform sets how long a stop may take; leave it out',
  stop_signal: 'an application is stopped by SIGTERM; leave it out',
  storage_opt: 'the file system of an instance has no size of its own; use a volume',
  sysctls: 'the kernel is set by the platform',
  tmpfs: 'what is not on a volume is gone after a stop anyhow; leave it out',
  ulimits: 'the limits of the VM are those of its memory; leave it out',
  use_api_socket: container,
  user: "the application runs as the image's user; set it in the image",
  userns_mode: container,
  uts: container,
  volumes_from: 'a volume can be attached to one instance',
  working_dir: "the application runs in the image's directory; set it in the image",
}

export const readTopKeys = ['version', 'name', 'services', 'volumes', 'networks'] as const

export const refusedTopKeys: Readonly<Record<string, string>> = {
  configs: files,
  include: 'write the services into one file',
  models: 'there are no models; run them as a service',
  secrets: "give them as variables with 'environment' or 'env_file', which are kept encrypted",
}

export const readDeployKeys = ['mode', 'replicas', 'resources', 'restart_policy'] as const

export const refusedDeployKeys: Readonly<Record<string, string>> = {
  endpoint_mode: network,
  labels: "write the labels under 'labels' of the service",
  placement: 'the platform chooses the host',
  rollback_config: 'put the old image into the file, and run `roost up` again',
  update_config:
    'a new version comes up for all replicas together; the labels `roost.rollout.*` say how it gets the traffic',
}
