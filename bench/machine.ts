import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { readInstalled } from '../src/launch/installed.ts'
import { inMb } from './report.ts'
import type { Section } from './report.ts'

/** Describes the machine, because figures mean nothing without it. */
export function describeMachine(accelerator: string): Section {
  // QEMU may be missing, because sections without virtual machines do not need it.
  const { qemu } = readInstalled()
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return {
    title: 'machine',
    findings: [
      { what: 'processor', figure: `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores` },
      { what: 'memory', figure: inMb(totalmem()) },
      {
        what: 'load before',
        figure: loadavg()
          .map((one) => one.toFixed(1))
          .join(' '),
      },
      { what: 'acceleration', figure: accelerator },
      { what: 'versions', figure: `Roost ${version}, Node ${process.version}, Linux ${release()}` },
      ...(qemu === undefined ? [] : [{ what: '', figure: versionOf(qemu) }]),
    ],
  }
}

function versionOf(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? ''
}
