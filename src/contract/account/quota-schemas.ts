import { closed, count, statusSuccess, uuidField } from '../fields.ts'

const amounts = {
  instances: count('Instances.'),
  live_instances: count('Instances that are not stopped.'),
  live_vcpus: count('Virtual CPUs of instances that are not stopped.'),
  live_memory_mb: count('Memory of instances that are not stopped.'),
  service_groups: count('Services.'),
  services: count('Published ports over all services.'),
  volumes: count('Volumes.'),
  total_volume_mb: count('Size of all volumes.'),
  registry_mb: count('What the images of the account take in the registry.'),
  snapshot_mb: count('Memory of instances that are not stopped and keep it in standby.'),
  image_mb: count(
    'What the images of instances of the account take on a host; of several hosts, where they take most.',
  ),
}

export const quotaEntry = closed({
  status: statusSuccess,
  uuid: uuidField,
  used: closed(amounts),
  hard: closed(amounts),
  limits: closed({
    min_memory_mb: count('Least memory of an instance.'),
    max_memory_mb: count('Most memory of an instance.'),
    min_vcpus: count('Fewest virtual CPUs of an instance.'),
    max_vcpus: count('Most virtual CPUs of an instance.'),
    min_volume_mb: count('Least size of a volume.'),
    max_volume_mb: count('Most size of a volume.'),
    min_autoscale_size: count('Least `min_size` of autoscale.'),
    max_autoscale_size: count('Most `max_size` of autoscale.'),
  }),
})
