import { readFile } from 'node:fs/promises'

/**
 * Reads figures of the host's connection table from the kernel. They are undefined if the kernel tracks no
 * connections.
 */
export class ConnectionTable {
  readonly #maxPath: string
  readonly #entriesPath: string

  constructor(paths: { readonly max?: string; readonly entries?: string } = {}) {
    this.#maxPath = paths.max ?? '/proc/sys/net/netfilter/nf_conntrack_max'
    this.#entriesPath = paths.entries ?? '/proc/self/net/stat/nf_conntrack'
  }

  async max(): Promise<number | undefined> {
    return numberOf(await readText(this.#maxPath), 10)
  }

  async entries(): Promise<number | undefined> {
    // Below a line of names, each processor has a line of hexadecimal numbers. The first number is that of
    // the whole table in each line.
    const [, line = ''] = (await readText(this.#entriesPath)).split('\n')
    return numberOf(line.split(' ')[0] ?? '', 16)
  }
}

function numberOf(text: string, radix: number): number | undefined {
  const value = Number.parseInt(text, radix)
  return Number.isNaN(value) ? undefined : value
}

async function readText(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '')
}
