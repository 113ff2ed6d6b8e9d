import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'

export interface ComposeService {
  readonly image?: string
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes?: readonly string[]
  readonly network_mode?: string
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
}

const file = path.resolve(import.meta.dirname, '../../docker-compose.yml')

export function readCompose(): ComposeFile {
  return parse(readFileSync(file, 'utf8'), { merge: true }) as ComposeFile
}

/** The files and directories of the checkout that are mounted into a service. Named volumes are left out. */
export function mountedFiles(
  service: string,
): readonly { readonly source: string; readonly target: string }[] {
  const volumes = readCompose().services[service]?.volumes ?? []
  return volumes
    .filter((one) => one.startsWith('./'))
    .map((one) => {
      const [source = '', target = ''] = one.split(':')
      return { source, target }
    })
}
