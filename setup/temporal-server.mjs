import { cp, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { exists } from './command.mjs'
import { goInstall, goModuleDirectory } from './go-tool.mjs'
import { Missing } from './missing.mjs'
import { cache } from './paths.mjs'
import { directoryOnce } from './replace.mjs'
import { versions } from './versions.mjs'

const directory = path.join(cache, `temporal-server-${versions.temporalServer}`)
const schema = path.join(directory, 'schema')
const programs = [
  { name: 'temporalServer', package: 'cmd/server', binary: 'server' },
  { name: 'temporalSqlTool', package: 'cmd/tools/sql', binary: 'sql' },
]

/**
 * Temporal's production server: the tests run it on PostgreSQL with the files that docker-compose.yml mounts.
 */
export const temporalServer = {
  title: 'Temporal production server (tests)',
  async bring({ say }) {
    try {
      await mkdir(directory, { recursive: true })
      for (const program of programs) await bringProgram(program, say)
      await directoryOnce(schema, copySchema)
    } catch (cause) {
      throw new Missing({
        what: `the Temporal server ${versions.temporalServer}`,
        why: 'a test runs the configuration of docker-compose.yml with it',
        command: `go install go.temporal.io/server/cmd/server@v${versions.temporalServer}`,
        cause,
      })
    }
    const paths = programs.map((program) => [program.name, path.join(directory, program.binary)])
    return { paths: { ...Object.fromEntries(paths), temporalSchema: schema } }
  },
}

async function bringProgram(program, say) {
  if (await exists(path.join(directory, program.binary))) return
  const module = `go.temporal.io/server/${program.package}@v${versions.temporalServer}`
  await goInstall({ module, binary: program.binary, directory, say })
}

async function copySchema(into) {
  const sources = await goModuleDirectory(`go.temporal.io/server@v${versions.temporalServer}`)
  await cp(path.join(sources, 'schema', 'postgresql', 'v12'), into, { recursive: true })
}
