import { randomUUID } from 'node:crypto'
import type { InstanceSettings } from '../../src/domain/instance/settings.ts'
import { RestartPolicy } from '../../src/domain/instance/restart-policy.ts'

/**
 * The settings with which the workflow of an instance is started. The instance starts by itself, and has a
 * host and a user of its own.
 */
export function instanceSettings(given: Partial<InstanceSettings> = {}): InstanceSettings {
  return {
    instanceUuid: randomUUID(),
    name: 'hello',
    userUuid: randomUUID(),
    nodeId: `node-${randomUUID().slice(0, 8)}`,
    autostart: true,
    deleteOnStop: false,
    restartPolicy: RestartPolicy.Never,
    ...given,
  }
}
