import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { inMb } from './report.ts'
import type { Section } from './report.ts'

/** Figures mean nothing without the machine that they are from. */
export function describeMachine(facts: { readonly qemuPath: string; readonly accelerator: string }): Section {
  const qemu = execFileSync(facts.qemuPath, ['--version'], { encoding: 'utf8' }).split('\n')[0] ?? ''
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
      { what: 'acceleration', figure: facts.accelerator },
      { what: 'versions', figure: `Roost ${version}, Node ${process.version}, Linux ${release()}` },
      { what: '', figure: qemu },
    ],
  }
}
