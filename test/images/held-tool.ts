import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../support/until.ts'

/**
 * Stands in for the tool that writes a squashfs. It writes down its user, its environment and its bounds, and
 * then computes until it is killed.
 */
export class HeldTool {
  readonly path: string
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
    this.path = join(directory, 'tool')
  }

  static async make(): Promise<HeldTool> {
    const directory = await mkdtemp(join(tmpdir(), 'roost-tool-'))
    const tool = new HeldTool(directory)
    const notes = join(directory, 'notes')
    // The tool runs as another user, who has to be able to run it and to write here.
    await chmod(directory, 0o777)
    await writeFile(
      tool.path,
      `#!/bin/sh
{
  echo "pid $$"; echo "user $(id -u)"; echo "groups $(id -G)"
  echo "oom $(cat /proc/self/oom_score_adj)"; echo "privileges $(grep NoNewPrivs /proc/self/status | tr -dc 0-9)"
  echo "capabilities $(grep CapEff /proc/self/status | cut -f 2)"; echo "interfaces $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \\n')"
  echo "variables $(env | cut -d= -f1 | sort | tr '\\n' ' ')"
  cat /proc/self/limits
} > ${notes}.new
mv ${notes}.new ${notes}
while :; do :; done
`,
      { mode: 0o755 },
    )
    return tool
  }

  /** Waits until the tool has begun, and returns what it wrote down. */
  async notes(): Promise<string> {
    const read = async () => await readFile(join(this.#directory, 'notes'), 'utf8').catch(() => undefined)
    return await until('the tool has begun', read, { limitMs: 20_000 })
  }

  async note(key: string): Promise<string> {
    return new RegExp(`^${key} (.*)$`, 'm').exec(await this.notes())?.[1]?.trim() ?? ''
  }

  async runs(): Promise<boolean> {
    const stat = await readFile(`/proc/${await this.note('pid')}/stat`, 'utf8').catch(() => '')
    // A zombie is still listed, but has ended.
    return stat !== '' && !/\) [ZX] /.test(stat)
  }

  async niceness(): Promise<number> {
    const stat = await readFile(`/proc/${await this.note('pid')}/stat`, 'utf8')
    // The niceness is field 19. Field 2 is a name that may have blanks; it ends with the last bracket.
    return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17])
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true })
  }
}
