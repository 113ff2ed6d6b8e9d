import type { explainHosts, getHosts } from '../../contract/host/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import { hostState } from '../../domain/host/explanation.ts'
import type { HostUpgrade } from '../../domain/host/upgrade.ts'
import { totalOf } from '../../domain/instance/tally.ts'
import { explanationText } from '../../explain/explanation-text.ts'
import { hostExplanation } from '../../explain/host/explanation.ts'
import { optionalTimestamp, timestamp } from '../timestamp.ts'
import type { SeenHost } from './objects.ts'

/** The view of a host for administrators. The secret of its agent is not in it. */
export function presentHost(host: SeenHost): OperationEntry<typeof getHosts> {
  const { version, accelerator, subnet, agentUrl } = host.node
  return { ...shared(host), version, accelerator, subnet, agent_url: agentUrl }
}

export function presentExplanation({ node, instances }: SeenHost): OperationEntry<typeof explainHosts> {
  const explanation = hostExplanation(node, instances)
  return {
    status: 'success',
    ...shared({ node, instances }),
    ...explanation,
    text: explanationText(explanation),
  }
}

function presentUpgrade({ state, from, to, beganAtMs, endedAtMs, progress, why }: HostUpgrade) {
  return {
    state,
    ...(from !== undefined && { from }),
    to,
    began_at: timestamp(new Date(beganAtMs)),
    ...(endedAtMs !== undefined && { ended_at: timestamp(new Date(endedAtMs)) }),
    ...(progress && { progress }),
    ...(why !== undefined && { why }),
  }
}

function shared({ node, instances }: SeenHost) {
  return {
    name: node.id,
    state: hostState(node),
    heard_at: timestamp(node.heartbeatAt),
    ...optionalTimestamp('cordoned_at', node.cordonedAt),
    ...(node.drainingAt !== null && {
      drain: { since: timestamp(node.drainingAt), to_move: totalOf(instances) },
    }),
    ...optionalTimestamp('lost_at', node.lostAt),
    ...(node.upgrade !== null && { upgrade: presentUpgrade(node.upgrade) }),
    ...(node.termMs !== null && { term_ms: node.termMs }),
    labels: node.labels,
    roles: [...node.roles],
    instances,
    memory_mb: node.memoryMb,
    used_memory_mb: node.usedMemoryMb,
    promised_memory_mb: node.promisedMemoryMb,
    ...(node.cpus !== null && { cpus: node.cpus }),
    promised_vcpus: node.promisedVcpus,
    volumes: node.volumes,
    volume_mb: node.volumeMb,
    promised_volume_mb: node.promisedMb,
  }
}
