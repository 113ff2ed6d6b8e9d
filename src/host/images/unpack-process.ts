import { createInterface } from 'node:readline'
import { ImageError } from './images.ts'
import { LayerError } from './tar-entry.ts'
import { unpackImage } from './unpack.ts'
import { go } from './unpack-messages.ts'
import type { UnpackOrder, UnpackReport } from './unpack-messages.ts'

/**
 * The process that unpacks one image. It loads everything that it needs before it takes its order:
 * afterwards it runs as another user, who can not read the program's files.
 */
export async function runUnpackProcess(): Promise<void> {
  const lines = createInterface({ input: process.stdin })
  lines.once('close', endGroup)
  const order = JSON.parse(await nextLine()) as UnpackOrder
  process.chdir(order.directory)
  if (order.owner !== undefined) become(order.owner)
  tell(await reportOf(order))
  process.exit(0)

  async function reportOf(order: UnpackOrder): Promise<UnpackReport> {
    try {
      const unpacked = await unpackImage(order, async (bytes) => {
        tell({ kind: 'merged', bytes })
        if ((await nextLine()) !== go) throw new Error(`the agent did not answer '${go}'`)
      })
      return { kind: 'done', unpacked }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const isRefusal = error instanceof LayerError || error instanceof ImageError
      return { kind: isRefusal ? 'refused' : 'failed', message }
    }
  }

  async function nextLine(): Promise<string> {
    return await new Promise((resolve) => lines.once('line', resolve))
  }
}

/** Ends this process and the tool that writes the squashfs: the tool is in this process's group. */
function endGroup(): void {
  process.kill(-process.pid, 'SIGKILL')
}

function become({ uid, gid }: NonNullable<UnpackOrder['owner']>): void {
  process.setgroups?.([])
  process.setgid?.(gid)
  process.setuid?.(uid)
}

function tell(report: UnpackReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
