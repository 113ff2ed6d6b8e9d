import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { open, rm, stat, truncate } from 'node:fs/promises'
import path from 'node:path'

const blockBytes = 1024 * 1024

/**
 * A disk of a few megabytes that a test can fill. It is in memory, in the mount namespace of a process of
 * its own. That process ends with this one, and the disk is gone then.
 */
export class SmallDisk {
  readonly #holder: ChildProcess

  constructor(holder: ChildProcess) {
    this.#holder = holder
  }

  static async open(sizeMb: number): Promise<SmallDisk> {
    const script = `mount -t tmpfs -o size=${sizeMb}m tmpfs /mnt && echo ready && exec cat`
    const flags = process.geteuid?.() === 0 ? '-m' : '-rm'
    const holder = spawn('unshare', [flags, 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'inherit'] })
    await Promise.race([
      once(holder.stdout, 'data'),
      once(holder, 'exit').then(() => {
        throw new Error('there is no namespace to be had with a disk of its own')
      }),
    ])
    return new SmallDisk(holder)
  }

  get directory(): string {
    return `/proc/${this.#holder.pid}/root/mnt`
  }

  /** Fills the disk until this much is left. */
  async fillUp({ leavingMb = 0 } = {}): Promise<void> {
    const block = Buffer.alloc(blockBytes, 1)
    const handle = await open(this.#fillerPath, 'w')
    let blocks = 0
    try {
      for (;;) {
        await handle.write(block, 0, block.length, blocks * blockBytes)
        blocks += 1
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      await handle.truncate(Math.max(0, blocks - leavingMb) * blockBytes)
    } finally {
      await handle.close()
    }
  }

  /** Gives back all that `fillUp` took, or this much of it. */
  async makeRoom({ mb }: { readonly mb?: number } = {}): Promise<void> {
    if (mb === undefined) await rm(this.#fillerPath, { force: true })
    else await truncate(this.#fillerPath, (await stat(this.#fillerPath)).size - mb * blockBytes)
  }

  async close(): Promise<void> {
    this.#holder.stdin?.end()
    if (this.#holder.exitCode === null) await once(this.#holder, 'exit')
  }

  get #fillerPath(): string {
    return path.join(this.directory, 'filler')
  }
}
