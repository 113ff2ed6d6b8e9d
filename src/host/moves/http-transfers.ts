import type { AgentLog } from '../agent/agent-ports.ts'
import type { MoveSource } from '../instance/record.ts'
import type { Network } from '../network/network.ts'
import type { HeldCopy } from './held-copy.ts'
import { TransferClient } from './transfer-client.ts'
import { TransferServer } from './transfer-server.ts'
import type { HeldSource, HoldName, TransferCount, Transfers, WantedFile, WantedVolume } from './transfers.ts'

/**
 * `Transfers` over HTTP in the mesh. The network's filter lets in only the machines that may fetch
 * something.
 */
export class HttpTransfers implements Transfers {
  readonly #address: string
  readonly #network: Pick<Network, 'openTo'>
  readonly #server: TransferServer
  readonly #client: TransferClient

  constructor(place: {
    /** The machine's own address in the mesh. */
    readonly address: string
    readonly network: Pick<Network, 'openTo'>
    readonly log: AgentLog
  }) {
    this.#address = place.address
    this.#network = place.network
    this.#server = new TransferServer(place.log)
    this.#client = new TransferClient(place.address)
  }

  async serve(
    source: HeldSource,
    { addresses, port: wanted }: { readonly addresses: readonly string[]; readonly port?: number },
  ): Promise<number> {
    const port = await this.#server.listen(source, this.#address, wanted)
    await this.#network.openTo?.(port, addresses)
    return port
  }

  async copyOf(from: MoveSource, instanceUuid: string, signal: AbortSignal): Promise<HeldCopy> {
    return await this.#client.copyOf(from, instanceUuid, signal)
  }

  async fetchFile(wanted: WantedFile, signal: AbortSignal): Promise<TransferCount> {
    return await this.#client.fetchFile(wanted, signal)
  }

  async followVolume(wanted: WantedVolume, signal: AbortSignal): Promise<string> {
    return await this.#client.followVolume(wanted, signal)
  }

  async tellTaken(from: MoveSource, hold: HoldName, signal: AbortSignal): Promise<void> {
    await this.#client.tellTaken(from, hold, signal)
  }

  async close(): Promise<void> {
    await this.#server.close()
  }
}
