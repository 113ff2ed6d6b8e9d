import { crc32 } from 'node:zlib'
import { usageSteps } from '../../domain/instance/usage-history.ts'
import type { StepUsage, UsageStep } from '../../domain/instance/usage-history.ts'

/** A sector of a disk holds whole records, so a crash of the machine leaves a record old or new. */
export const recordBytes = 64
/** Where the checksum is: behind the values. */
const checksumAt = 60
const maxCount = 0xff_ff_ff_ff

/** Where the records of a step are in the file: one ring behind the other. */
export function ringOf(step: UsageStep): { readonly start: number; readonly bytes: number } {
  const start = step === '5s' ? 0 : usageSteps['5s'].kept * recordBytes
  return { start, bytes: usageSteps[step].kept * recordBytes }
}

/** The place of a record follows from its time, so there is no head that could be wrong. */
export function placeOf(step: UsageStep, atMs: number): number {
  const { lengthMs, kept } = usageSteps[step]
  return ringOf(step).start + ((atMs / lengthMs) % kept) * recordBytes
}

export function encodeStep(usage: StepUsage): Buffer {
  const record = Buffer.alloc(recordBytes)
  record.writeDoubleLE(usage.atMs, 0)
  record.writeDoubleLE(usage.rssBytes, 8)
  record.writeDoubleLE(usage.rxBytes, 16)
  record.writeDoubleLE(usage.txBytes, 24)
  const counts = [
    usage.seenMs,
    usage.cpuTimeMs,
    usage.rxPackets,
    usage.txPackets,
    usage.handled,
    usage.wakes,
    usage.inFlightMs,
  ]
  for (const [index, count] of counts.entries())
    record.writeUInt32LE(Math.min(Math.round(count), maxCount), 32 + index * 4)
  record.writeUInt32LE(crc32(record.subarray(0, checksumAt)), checksumAt)
  return record
}

/** Undefined if nothing whole was written there. */
export function decodeStep(record: Buffer): StepUsage | undefined {
  if (record.length < recordBytes) return undefined
  const atMs = record.readDoubleLE(0)
  if (atMs === 0 || record.readUInt32LE(checksumAt) !== crc32(record.subarray(0, checksumAt)))
    return undefined
  return {
    atMs,
    rssBytes: record.readDoubleLE(8),
    rxBytes: record.readDoubleLE(16),
    txBytes: record.readDoubleLE(24),
    seenMs: record.readUInt32LE(32),
    cpuTimeMs: record.readUInt32LE(36),
    rxPackets: record.readUInt32LE(40),
    txPackets: record.readUInt32LE(44),
    handled: record.readUInt32LE(48),
    wakes: record.readUInt32LE(52),
    inFlightMs: record.readUInt32LE(56),
  }
}

/** The steps in a ring that are still kept at `nowMs`, the oldest first. */
export function stepsIn(ring: Buffer, step: UsageStep, nowMs: number): readonly StepUsage[] {
  const { lengthMs, kept } = usageSteps[step]
  const steps: StepUsage[] = []
  for (let at = 0; at < ring.length; at += recordBytes) {
    const usage = decodeStep(ring.subarray(at, at + recordBytes))
    const isKept = usage !== undefined && usage.atMs <= nowMs && usage.atMs > nowMs - kept * lengthMs
    if (isKept && placeOf(step, usage.atMs) === ringOf(step).start + at) steps.push(usage)
  }
  return steps.toSorted((a, b) => a.atMs - b.atMs)
}
