import { createHash } from 'node:crypto'
import { numberedSubnet } from '../domain/host/private-address.ts'

/**
 * The network for the first host of a stack in this directory, if no setting names one. Stacks on one
 * machine should not share a network. So the network, one of 1024, follows from the directory. If two
 * directories have the same one, the later stack gets another network.
 */
export function firstSubnetOf(directory: string): string {
  return numberedSubnet(createHash('sha256').update(directory).digest().readUInt16BE(0))
}
