import { readFileSync } from 'node:fs'
import { familyOf } from '../test/support/processes.ts'

/** The memory of a process and all processes that it started. Shared pages are divided among their users. */
export function proportionalBytes(pid: number): number {
  return familyOf(pid)
    .map((member) => fieldOf(member, 'Pss'))
    .reduce((sum, bytes) => sum + bytes, 0)
}

export function residentBytes(pid: number): number {
  return familyOf(pid)
    .map((member) => fieldOf(member, 'Rss'))
    .reduce((sum, bytes) => sum + bytes, 0)
}

function fieldOf(pid: number, field: 'Pss' | 'Rss'): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
