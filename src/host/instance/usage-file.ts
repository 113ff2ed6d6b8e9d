import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { addToStep, usageSteps } from '../../domain/instance/usage-history.ts'
import type { StepUsage, UsageStep } from '../../domain/instance/usage-history.ts'
import { decodeStep, encodeStep, placeOf, recordBytes, ringOf, stepsIn } from './usage-ring.ts'

export const allSteps = Object.keys(usageSteps) as readonly UsageStep[]

/** What was used between two samples, divided among the steps of each length. */
export type Shares = Readonly<Record<UsageStep, readonly StepUsage[]>>

/** The steps of which the file knows something, the oldest first. None if there is no file. */
export async function readUsageFile(
  path: string,
  step: UsageStep,
  nowMs: number,
): Promise<readonly StepUsage[]> {
  const { start, bytes } = ringOf(step)
  const file = await unlessMissing(open(path))
  if (file === undefined) return []
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, start)
    return stepsIn(buffer.subarray(0, bytesRead), step, nowMs)
  } finally {
    await file.close()
  }
}

/** Adds to the file, and makes it if its directory is there. */
export async function addToUsageFile(path: string, shares: Shares): Promise<void> {
  const file = await unlessMissing(open(path, constants.O_RDWR | constants.O_CREAT, 0o600))
  if (file === undefined) return
  try {
    for (const step of allSteps) for (const share of shares[step]) await addShare(file, step, share)
  } finally {
    await file.close()
  }
}

async function addShare(file: FileHandle, step: UsageStep, share: StepUsage): Promise<void> {
  const place = placeOf(step, share.atMs)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(recordBytes), 0, recordBytes, place)
  const sum = addToStep(decodeStep(buffer.subarray(0, bytesRead)), share)
  await file.write(encodeStep(sum), 0, recordBytes, place)
}

async function unlessMissing(file: Promise<FileHandle>): Promise<FileHandle | undefined> {
  try {
    return await file
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
