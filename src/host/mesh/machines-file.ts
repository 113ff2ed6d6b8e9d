import { readFile } from 'node:fs/promises'
import { isJsonObject, parseJson } from '../../domain/json-text.ts'
import { MeshError } from './mesh-error.ts'
import { checkMachines } from './mesh-machine.ts'
import type { MeshMachine } from './mesh-machine.ts'

/**
 * Reads the machines of a mesh from a file of JSON: a list of objects as `MeshMachine` describes them. Throws
 * `MeshError` if the file can not be read, or if the list in it is wrong.
 */
export async function readMachinesFile(path: string): Promise<readonly MeshMachine[]> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new MeshError(`the file ${path} with the machines of the mesh can not be read`, { cause })
  })
  const list = parseJson(text)
  if (!Array.isArray(list) || !list.every(isMachine)) {
    throw new MeshError(
      `the file ${path} must hold a list of machines such as {"address": "10.64.0.1", "publicKey": "...", ` +
        '"endpoint": "192.0.2.7:51820", "networks": ["10.64.0.0/20"]}',
    )
  }
  checkMachines(list)
  return list
}

function isMachine(value: unknown): value is MeshMachine {
  if (!isJsonObject(value)) return false
  const { address, publicKey, endpoint, networks, gateway } = value
  return (
    typeof address === 'string' &&
    typeof publicKey === 'string' &&
    (endpoint === undefined || typeof endpoint === 'string') &&
    (gateway === undefined || typeof gateway === 'boolean') &&
    Array.isArray(networks) &&
    networks.every((network) => typeof network === 'string')
  )
}
