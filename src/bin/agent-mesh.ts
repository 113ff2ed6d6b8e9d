import type { AgentLog } from '../host/agent/agent-ports.ts'
import { readMachinesFile } from '../host/mesh/machines-file.ts'
import { Mesh } from '../host/mesh/mesh.ts'
import type { Network } from '../host/network/network.ts'
import { TapNetwork } from '../host/network/tap-network.ts'
import type { Settings } from '../settings/settings.ts'

/** The mesh as the agent keeps it. */
export interface KeptMesh {
  /** Makes the mesh as the file says. What is wrong with the file is thrown, and changes nothing. */
  keep(): Promise<void>
  close(): Promise<void>
}

/**
 * Connects this host and its instances to the other machines of the installation, if `ROOST_MESH_FILE` names
 * them. The network of instances must be open: its filter decides what goes through the mesh.
 */
export async function openMesh(
  settings: Settings,
  network: Network,
  log: AgentLog,
): Promise<KeptMesh | undefined> {
  const { meshFile, meshPort, agentDir } = settings
  if (meshFile === undefined || !(network instanceof TapNetwork)) return undefined
  const address = network.hostAddress
  const mesh = new Mesh({ directory: agentDir, address, listenPort: meshPort })
  log.info({ address, publicKey: await mesh.publicKey() }, 'this host in the mesh')
  const kept: KeptMesh = {
    keep: async () => {
      const machines = await readMachinesFile(meshFile)
      const changes = await mesh.apply(machines)
      const gateways = machines.filter(({ gateway }) => gateway === true).map((machine) => machine.address)
      await network.tellMesh({ gateways, instances: new Map() })
      if (changes.length > 0) log.info({ changes }, 'the mesh has changed')
    },
    close: async () => await mesh.close(),
  }
  await kept.keep().catch((error: unknown) => log.warn({ err: error }, 'the mesh is not as it should be'))
  return kept
}
