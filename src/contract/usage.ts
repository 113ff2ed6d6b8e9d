import { Type } from 'typebox'
import { usageSteps } from '../domain/instance/usage-history.ts'
import type { UsageStep } from '../domain/instance/usage-history.ts'
import { closed, count, timestampField, vocabulary } from './fields.ts'

/** The history of usage, of an instance or of all instances of a service together. */

const keptSteps = usageSteps['5m'].kept

export const usageBody = closed({
  step: Type.Optional(
    vocabulary(
      Object.keys(usageSteps) as readonly UsageStep[],
      'Length of a step: `5s` for the last hour, `5m` for the last 30 days; default `5s`.',
    ),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: keptSteps,
      description: `Length of the time that is told, in steps up to now; default all that are kept. Of all objects of a request together at most ${keptSteps}.`,
    }),
  ),
})

export const usageHistory = {
  step: vocabulary(Object.keys(usageSteps) as readonly UsageStep[], 'Length of a step.'),
  usage: Type.Array(
    closed({
      at: timestampField,
      seen_ms: count('For how much of the step it was watched; of a service the sum over its instances.'),
      rss_bytes: count('Memory at the last sample in the step.'),
      cpu_time_ms: count('Processor time.'),
      rx_bytes: count('Bytes received.'),
      rx_packets: count('Packets received.'),
      tx_bytes: count('Bytes sent.'),
      tx_packets: count('Packets sent.'),
      nrequests: count('Connections and requests that ended.'),
      nwakes: count('Wakes from standby.'),
      in_flight_ms: count('Requests in flight, times how long they were: 3 of them for 5 s are 15000.'),
    }),
    {
      description:
        'Steps from the oldest to the newest. A step is left out if nothing was seen in it: nothing ran, or the host ' +
        'was away.',
    },
  ),
}
