import path from 'node:path'
import { Agent, request } from 'undici'
import { serverUrl } from '../../domain/host-and-port.ts'
import { agentName } from '../../domain/part-name.ts'
import type { PartIdentity } from '../../trust/part-identity.ts'
import type { Part } from '../parts/part.ts'
import { untilSucceeds } from '../readiness.ts'
import { identityDirectory } from './joined-host.ts'
import type { JoinedHost } from './joined-host.ts'

const answerMs = 2_000
const stopLimitMs = 5_000

/** The parts of a machine that joined as a host: the agent alone. */
export function hostParts(options: {
  readonly joined: JoinedHost
  readonly identity: PartIdentity
  readonly dataDir: string
  readonly agentDir: string
  readonly agentPort: number
}): readonly Part[] {
  const { joined, identity, dataDir, agentDir, agentPort } = options
  const controlPlane = `https://${joined.controlPlane}`
  const { hostId, ownAddress } = joined
  return [
    {
      name: 'agent',
      program: process.execPath,
      args: [
        '--disable-warning=ExperimentalWarning',
        path.resolve(import.meta.dirname, '../../bin/agent.ts'),
      ],
      readsSettings: true,
      env: {
        ROOST_DATA_DIR: dataDir,
        ROOST_AGENT_DIR: agentDir,
        ROOST_NODE_ID: hostId,
        ROOST_API_URL: controlPlane,
        ROOST_REGISTRY_URL: controlPlane,
        TEMPORAL_ADDRESS: joined.controlPlane,
        TEMPORAL_NAMESPACE: joined.temporalNamespace,
        ROOST_AGENT_HOST: ownAddress,
        ROOST_AGENT_PORT: String(agentPort),
        ROOST_IDENTITY_DIR: identityDirectory(dataDir),
      },
      stopSignal: 'SIGTERM',
      stopLimitMs,
      ready: async (signal) => await untilReady({ hostId, ownAddress, agentPort }, identity, signal),
    },
  ]
}

/** Resolves once the agent takes work. It says so to everybody, so no certificate is shown to it. */
async function untilReady(
  place: Pick<JoinedHost, 'hostId' | 'ownAddress'> & { readonly agentPort: number },
  { authority }: PartIdentity,
  signal: AbortSignal,
): Promise<void> {
  const { hostId, ownAddress, agentPort } = place
  const name = agentName(hostId)
  const dispatcher = new Agent({ connect: { ca: authority, servername: name }, allowH2: false })
  const url = `${serverUrl('https', { host: ownAddress, port: agentPort })}/readyz`
  const ask = async (): Promise<void> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    const answer = await request(url, { dispatcher, headers: { host: name }, signal: limit })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`the agent answers ${answer.statusCode}`)
  }
  try {
    await untilSucceeds(ask, signal)
  } finally {
    await dispatcher.destroy()
  }
}
