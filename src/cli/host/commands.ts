import type { Command } from 'commander'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../db/database.ts'
import {
  instanceStatesOfNodes,
  leftOnNode,
  overlookNodes,
  releaseNode,
  removeNode,
  setUse,
} from '../../db/host/administration.ts'
import type { NodeChange, NodeRefusal } from '../../db/host/administration.ts'
import { nodeSilentAfterMs } from '../../domain/host/api-protocol.ts'
import { hostState } from '../../domain/host/explanation.ts'
import { HostUse } from '../../domain/host/use.ts'
import { explanationText } from '../../explain/explanation-text.ts'
import { hostExplanation } from '../../explain/host/explanation.ts'
import { table } from '../../primitives/text-table.ts'
import type { CliDeps } from '../cli-deps.ts'
import { CliFailure } from '../cli-failure.ts'
import { answer, moment } from '../output.ts'
import type { OutputOptions } from '../output.ts'

export function addNodeCommands(program: Command, deps: CliDeps): void {
  const node = program.command('node').description('hosts')
  node
    .command('list')
    .description('list hosts')
    .option('--json', 'answer in JSON')
    .action((options: OutputOptions) => list(deps, options))
  node
    .command('explain <id>')
    .description(
      'say of a host whether it is heard, what it has and how much room is left, and what that means',
    )
    .option('--json', 'answer in JSON')
    .action((id: string, options: OutputOptions) => explain(deps, id, options))
  node
    .command('cordon <id>')
    .description('place no new instances and volumes on a host; what it has goes on')
    .option('--json', 'answer in JSON')
    .action((id: string, options: OutputOptions) => cordon(deps, id, options))
  node
    .command('uncordon <id>')
    .description('place new instances and volumes on a host again')
    .option('--json', 'answer in JSON')
    .action((id: string, options: OutputOptions) => uncordon(deps, id, options))
  node
    .command('release <id>')
    .description(
      'let the next host that joins under this id take over its instances, for a host that was set up again',
    )
    .option('--json', 'answer in JSON')
    .action((id: string, options: OutputOptions) => release(deps, id, options))
  node
    .command('remove <id>')
    .description('forget a host that is switched off for good, once its instances and volumes are deleted')
    .option('--json', 'answer in JSON')
    .action((id: string, options: OutputOptions) => remove(deps, id, options))
}

async function list(deps: CliDeps, options: OutputOptions): Promise<void> {
  const nodes = await deps.withDatabase(overlookNodes)
  const head = [
    'ID',
    'STATE',
    'INSTANCES',
    'MEMORY MB',
    'VOLUMES',
    'VOLUME MB',
    'ACCELERATOR',
    'NETWORK',
    'AGENT',
    'LAST HEARD',
  ]
  const rows = nodes.map((node) => [
    node.id,
    node.cordonedAt === null ? hostState(node) : `${hostState(node)}, cordoned`,
    String(node.instances),
    `${node.usedMemoryMb} of ${node.memoryMb}`,
    String(node.volumes),
    `${node.promisedMb} of ${node.volumeMb}`,
    node.accelerator,
    node.subnet,
    node.agentUrl,
    moment(node.heartbeatAt),
  ])
  answer(deps, options, { json: nodes, text: table([head, ...rows]) })
}

async function explain(deps: CliDeps, id: string, options: OutputOptions): Promise<void> {
  const { nodes, states } = await deps.withDatabase(async (database) => ({
    nodes: await overlookNodes(database),
    states: await instanceStatesOfNodes(database),
  }))
  const node = nodes.find((each) => each.id === id)
  if (node === undefined) throw new CliFailure(refusalText(id, 'unknown'))
  const instances = states.get(id) ?? {}
  const explanation = hostExplanation(node, instances)
  answer(deps, options, {
    json: { id, state: hostState(node), ...explanation, instances },
    text: explanationText(explanation),
  })
}

async function cordon(deps: CliDeps, id: string, options: OutputOptions): Promise<void> {
  requireDone(id, await deps.withDatabase((database) => setUse(database, id, HostUse.Cordoned)))
  const text = `host ${id} cordoned: nothing new is placed there, and what it has goes on`
  answer(deps, options, { json: { id, cordoned: true }, text })
}

async function uncordon(deps: CliDeps, id: string, options: OutputOptions): Promise<void> {
  requireDone(id, await deps.withDatabase((database) => setUse(database, id, HostUse.Open)))
  const text = `host ${id} is not cordoned: new instances and volumes are placed there as long as they fit`
  answer(deps, options, { json: { id, cordoned: false }, text })
}

async function release(deps: CliDeps, id: string, options: OutputOptions): Promise<void> {
  requireDone(id, await deps.withDatabase((database) => releaseNode(database, id)))
  const text = `host ${id} released: the next host that joins under this id with the join token takes over its instances`
  answer(deps, options, { json: { id, released: true }, text })
}

async function remove(deps: CliDeps, id: string, options: OutputOptions): Promise<void> {
  requireDone(id, await deps.withDatabase((database) => removeWithWhatIsDeleted(deps, database, id)))
  answer(deps, options, { json: { id, removed: true }, text: `host ${id} removed` })
}

/**
 * How long the command waits for workflows to delete rows of instances and volumes that were being deleted,
 * and that no host cleans up any more.
 */
const goneLimitMs = 30_000
const goneLookMs = 500

/**
 * Removes a host that does not come back. So instances and volumes on it that are being deleted need not
 * wait for it.
 */
async function removeWithWhatIsDeleted(deps: CliDeps, database: Database, id: string): Promise<NodeChange> {
  const untilMs = Date.now() + goneLimitMs
  for (;;) {
    const removed = await removeNode(database, id)
    if (removed.ok || Date.now() > untilMs) return removed
    const left = await leftOnNode(database, id)
    if (left === undefined) return removed
    await deps.withControl(async ({ instances, volumes }) => {
      for (const uuid of left.instances) await instances.hostGone(uuid)
      for (const uuid of left.volumes) await volumes.hostGone(uuid)
    })
    await delay(goneLookMs)
  }
}

function requireDone(id: string, change: NodeChange): void {
  if (!change.ok) throw new CliFailure(refusalText(id, change.refusal))
}

function refusalText(id: string, refusal: NodeRefusal): string {
  const texts = {
    unknown: `there is no host '${id}'; \`roost admin node list\` shows their ids`,
    live: `host '${id}' was heard of within the last ${nodeSilentAfterMs / 1_000} s: stop its agent first`,
    'has-instances': `host '${id}' has instances: delete them first, or set the host up again and \`roost admin node release ${id}\``,
    'has-volumes': `host '${id}' has volumes: delete them first, or bring the host back with them: \`roost admin node release ${id}\``,
  }
  return texts[refusal]
}
