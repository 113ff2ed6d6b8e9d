import { Type } from 'typebox'
import type { TInteger } from 'typebox'
import { quotaRange } from '../../domain/account/quotas.ts'
import { closed, count, optionalAll, statusSuccess, uuidField } from '../fields.ts'

const amountTexts = {
  instances: 'Instances.',
  live_instances: 'Instances that are not stopped.',
  live_vcpus: 'Virtual CPUs of instances that are not stopped.',
  live_memory_mb: 'Memory of instances that are not stopped.',
  service_groups: 'Services.',
  services: 'Published ports over all services.',
  volumes: 'Volumes.',
  total_volume_mb: 'Size of all volumes.',
  registry_mb: 'What the images of the account take in the registry.',
  snapshot_mb: 'Memory of instances that are not stopped and keep it in standby.',
  image_mb:
    'What the images of instances of the account take on a host; of several hosts, where they take most.',
}
const limitTexts = {
  min_memory_mb: 'Least memory of an instance.',
  max_memory_mb: 'Most memory of an instance.',
  min_vcpus: 'Fewest virtual CPUs of an instance.',
  max_vcpus: 'Most virtual CPUs of an instance.',
  min_volume_mb: 'Least size of a volume.',
  max_volume_mb: 'Most size of a volume.',
  min_autoscale_size: 'Least `min_size` of autoscale.',
  max_autoscale_size: 'Most `max_size` of autoscale.',
}

/** What an account holds, what it may hold, and the bounds of a single object of it. */
export const quotaFields = {
  used: closed(numbers(amountTexts, count)),
  hard: closed(numbers(amountTexts, count)),
  limits: closed(numbers(limitTexts, count)),
}

export const quotaEntry = closed({ status: statusSuccess, uuid: uuidField, ...quotaFields })

/** The quotas and limits that a request sets. What is left out stays, or has the default of new accounts. */
export const givenQuotas = {
  hard: Type.Optional(
    closed(optionalAll(numbers(amountTexts, bounded)), {
      'x-place': 'hard quotas',
      description: 'What the account may hold at a time.',
    }),
  ),
  limits: Type.Optional(
    closed(optionalAll(numbers(limitTexts, bounded)), {
      'x-place': 'limits',
      description: 'The bounds of a single object of the account.',
    }),
  ),
}

function bounded(description: string): TInteger {
  return Type.Integer({ minimum: quotaRange.min, maximum: quotaRange.max, description })
}

function numbers<Name extends string>(
  texts: Readonly<Record<Name, string>>,
  schema: (text: string) => TInteger,
) {
  const fields = Object.entries<string>(texts).map(([name, text]) => [name, schema(text)])
  return Object.fromEntries(fields) as Record<Name, TInteger>
}
