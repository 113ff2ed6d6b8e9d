import { Mesh } from '../../../src/host/mesh/mesh.ts'
import type { MeshMachine } from '../../../src/domain/host/mesh.ts'
import { Commands } from '../../../src/host/network/commands.ts'

/** Takes the place of an agent that tests kill: it connects its machine to a mesh and lives on. */
interface Order {
  readonly namespace: string
  readonly directory: string
  readonly address: string
  readonly listenPort: number
  readonly machines: readonly MeshMachine[]
}

const order = JSON.parse(process.argv[2] ?? '') as Order
const mesh = new Mesh({ ...order, commands: new Commands(['ip', 'netns', 'exec', order.namespace]) })
process.stdout.write(`${JSON.stringify(await mesh.apply(order.machines))}\n`)
setInterval(() => undefined, 60_000)
