import type { AgentLog } from '../host/agent/agent-ports.ts'
import { readMachinesFile } from '../host/mesh/machines-file.ts'
import { Mesh } from '../host/mesh/mesh.ts'
import type { Settings } from '../settings/settings.ts'

/** The mesh as the agent keeps it. */
export interface KeptMesh {
  /** Makes the mesh as the file says. What is wrong with the file is thrown, and changes nothing. */
  keep(): Promise<void>
  close(): Promise<void>
}

/**
 * Connects this host to the other machines of the installation, if `ROOST_MESH_FILE` names them. `address` is
 * the host's own address in its instances' network; without one the host has no such network.
 */
export async function openMesh(
  settings: Settings,
  address: string | undefined,
  log: AgentLog,
): Promise<KeptMesh | undefined> {
  const { meshFile, meshPort, agentDir } = settings
  if (meshFile === undefined || address === undefined) return undefined
  const mesh = new Mesh({ directory: agentDir, address, listenPort: meshPort })
  log.info({ address, publicKey: await mesh.publicKey() }, 'this host in the mesh')
  const kept: KeptMesh = {
    keep: async () => {
      const changes = await mesh.apply(await readMachinesFile(meshFile))
      if (changes.length > 0) log.info({ changes }, 'the mesh has changed')
    },
    close: async () => await mesh.close(),
  }
  await kept.keep().catch((error: unknown) => log.warn({ err: error }, 'the mesh is not as it should be'))
  return kept
}
