import type { ScaleToZero } from '../../src/domain/standby/scale-to-zero.ts'
import type { SimClients } from './client.ts'
import type { SimConfiguration } from './commands.ts'
import type { SimGateway } from './gateway.ts'
import type { SimHost } from './host.ts'
import type { SimMachine } from './machine.ts'
import type { SimWorkflow } from './workflow.ts'
import type { World } from './world.ts'

/** The parts of a life, for those that check the rules. */
export interface WatchedParts {
  readonly world: World
  readonly host: SimHost
  readonly machine: SimMachine
  readonly clients: SimClients
  readonly gateways: readonly SimGateway[]
  readonly workflow: SimWorkflow
  readonly settings: ScaleToZero
  readonly configuration: SimConfiguration
  readonly instanceUuid: string
}
