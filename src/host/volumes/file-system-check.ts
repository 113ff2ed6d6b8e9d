import type { FileHandle } from 'node:fs/promises'
import { Semaphore } from '../../primitives/semaphore.ts'
import { fileSystemBytes } from './file-system-size.ts'
import { describeEnd, refuseWhenFull } from './volume-format.ts'
import { excerptOf, runVolumeTool, volumeInTool, volumeOwner } from './volume-tool.ts'
import type { ToolEnd } from './volume-tool.ts'
import { VolumeError } from './volumes.ts'

/**
 * The time limit of a check. Replaying a journal takes milliseconds, but a file system that was marked as
 * damaged is read as a whole. That happens here or in a repair.
 */
const checkLimitMs = 300_000
/** The time limit of a repair. It is enough for 20 GB full of small files on a slow disk. */
const repairLimitMs = 3_600_000
/**
 * The most output of a check that is kept. A badly damaged file system prints a line for each inode; the
 * first ones say enough.
 */
const maxOutputBytes = 65_536
/**
 * The most checks at the same time, and the most repairs. Each may take as much memory as a tool is
 * permitted. Few repairs run at once, because no start waits for another volume's repair.
 */
const checksAtOnce = new Semaphore(8)
const repairsAtOnce = new Semaphore(2)
/** The most passes of one repair. The first pass may uncover errors that only a second one can correct. */
const maxRepairPasses = 3

/**
 * The parts of e2fsck's exit code, which is a sum of them. Uncorrected errors of the file system are not the
 * same as failures of e2fsck itself.
 */
const exitCodes = {
  corrected: 1,
  /**
   * The code for mounted file systems. A volume is never mounted here, so the code only means that the file
   * system was corrected.
   */
  reboot: 2,
  uncorrected: 4,
  /**
   * The code for a failure of e2fsck itself: it found no superblock that it knows, could not read, or had no
   * memory.
   */
  operational: 8,
  usage: 16,
  cancelled: 32,
  library: 128,
} as const

interface CheckInput {
  readonly uuid: string
  readonly file: FileHandle
  readonly signal?: AbortSignal | undefined
}

/** Replays the journal and corrects what needs no decision. A sound file system needs nothing more. */
export async function checkFileSystem(input: CheckInput): Promise<void> {
  await refuseWhenCut(input.file)
  const check = async (): Promise<ToolEnd> =>
    await runCheck(input, { options: ['-p'], limitMs: checkLimitMs, semaphore: checksAtOnce })
  const first = await check()
  // If the first check corrected something, a second one must find nothing. An exit code of 1 may also come
  // from a program that runs before e2fsck, and then nothing was checked.
  const last = verdictOf(first) === 'sound' && !foundNothing(first) ? await check() : first
  if (foundNothing(last)) return
  await refuse(last, input, 'the file system of the volume is damaged, and mending it may lose files')
}

const atRepair = { limitMs: repairLimitMs, semaphore: repairsAtOnce }

/**
 * Checks the whole file system and corrects all that it finds. Files without a directory are put into
 * lost+found.
 */
export async function repairFileSystem(input: CheckInput): Promise<void> {
  await refuseWhenCut(input.file)
  const repair = async (): Promise<ToolEnd> => await runCheck(input, { options: ['-f', '-y'], ...atRepair })
  let end = await repair()
  for (let pass = 1; pass < maxRepairPasses && endedWithErrors(end); pass += 1) end = await repair()
  if (verdictOf(end) !== 'sound')
    await refuse(end, input, 'the file system of the volume can not be repaired')
  const seenAgain = await runCheck(input, { options: ['-f', '-n'], ...atRepair })
  if (!foundNothing(seenAgain))
    await refuse(seenAgain, input, 'errors remain in the file system of the volume after the repair')
}

/**
 * Refuses a file that is shorter than its file system, such as an unfinished copy. Otherwise e2fsck would
 * drop the journal first, and only then find that it can not correct the rest.
 */
async function refuseWhenCut(file: FileHandle): Promise<void> {
  const { size } = await file.stat()
  const wanted = (await fileSystemBytes(file)) ?? 0
  if (size >= wanted) return
  const message = `the file of the volume has ${size} bytes, but its file system needs ${wanted}: put the whole file back, then repair it`
  throw new VolumeError('VolumeUnusable', message)
}

function foundNothing(end: ToolEnd): boolean {
  return end.kind === 'exit' && end.code === 0
}

/** Whether another pass may correct more. A pass that was ended by a limit would be ended again. */
function endedWithErrors(end: ToolEnd): boolean {
  return end.kind === 'exit' && verdictOf(end) === 'damaged'
}

async function runCheck(
  { uuid, file, signal }: CheckInput,
  { options, limitMs, semaphore }: CheckOptions,
): Promise<ToolEnd> {
  const owner = volumeOwner(uuid)
  const { size } = await file.stat()
  return await semaphore.run(
    async () =>
      await runVolumeTool({
        command: ['e2fsck', ...options, volumeInTool],
        descriptor: file.fd,
        ...(owner === undefined ? {} : { owner }),
        maxFileBytes: size,
        limitMs,
        maxOutputBytes,
        // The host's own settings could make e2fsck ask, log or skip a check.
        env: { E2FSCK_CONFIG: '/dev/null' },
        signal,
      }),
  )
}

interface CheckOptions {
  readonly options: readonly string[]
  readonly limitMs: number
  readonly semaphore: Semaphore
}

type Verdict = 'sound' | 'damaged' | 'not-checked'

export function verdictOf(end: ToolEnd): Verdict {
  if (end.kind === 'conflict') return 'not-checked'
  // SIGKILL does not come from one of its limits, which send other signals. Memory ran out, or somebody
  // killed it.
  if (end.kind === 'signal' && end.signal === 'SIGKILL') return 'not-checked'
  // The content of the file caused the tool's fault, or made the tool exceed a limit.
  if (end.kind !== 'exit') return 'damaged'
  const { code } = end
  const { corrected, reboot, uncorrected, operational, usage, cancelled, library } = exitCodes
  // The bits that e2fsck does not use here. The programs that run before e2fsck end with codes that have
  // such bits if they can not start it.
  const foreign = ~(corrected | reboot | uncorrected | operational)
  if ((code & (usage | cancelled | library)) !== 0 || (code & foreign) !== 0) return 'not-checked'
  return (code & (uncorrected | operational)) !== 0 ? 'damaged' : 'sound'
}

async function refuse(end: ToolEnd, { file }: CheckInput, what: string): Promise<never> {
  if (end.kind === 'conflict')
    throw new VolumeError('VolumeInUse', 'a check of the volume is still under way')
  if (verdictOf(end) !== 'damaged')
    throw new Error(`the volume could not be checked: ${describeEnd(end, 'e2fsck')}`)
  await refuseWhenFull(file)
  const why = end.kind === 'exit' ? excerptOf(end.output) : describeEnd(end, 'e2fsck')
  throw new VolumeError('VolumeUnusable', `${what}: ${why}`)
}
