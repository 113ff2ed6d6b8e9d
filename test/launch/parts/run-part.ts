import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Part } from '../../../src/launch/parts/part.ts'
import { startPartProcess } from '../../../src/launch/parts/part-process.ts'
import type { PartProcessOptions } from '../../../src/launch/parts/part-process.ts'

/** Runs a program as a part until it ends, and returns the lines that it wrote. */
export async function runPart(
  part: Pick<Part, 'program' | 'args'> & Partial<Part>,
  options: Partial<PartProcessOptions> = {},
): Promise<readonly string[]> {
  const runDirectory = await mkdtemp(path.join(tmpdir(), 'roost-part-'))
  const lines: string[] = []
  try {
    const running = await startPartProcess(
      {
        name: 'one',
        stopSignal: 'SIGTERM',
        stopLimitMs: 1_000,
        ready: async () => await Promise.resolve(),
        ...part,
      },
      { runDirectory, environment: process.env, onLine: (line) => lines.push(line), ...options },
    )
    await running.exited
    return lines
  } finally {
    await rm(runDirectory, { recursive: true })
  }
}
