import { chmod, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run, which } from './command.mjs'
import { aptGet, updateLists } from './debian-packages.mjs'
import { Missing } from './missing.mjs'
import { cache, isRoot } from './places.mjs'
import { directoryOnce } from './replace.mjs'
import { versions } from './versions.mjs'

const directory = path.join(cache, `temporal-test-server-${versions.temporalTestServer}`)
const program = path.join(directory, 'temporal-test-server')

/** Temporal's test server skips time: the whole back-off table of a restart policy takes seconds with it. */
export const testServer = {
  title: 'Temporal test server (tests)',
  async bring({ say }) {
    try {
      await installJava(say)
      await directoryOnce(directory, (into) => fetchJars(into, say))
    } catch (cause) {
      throw new Missing({
        what: `the Temporal test server ${versions.temporalTestServer}`,
        why: 'workflow tests skip time with it',
        command:
          'apt-get install -y --no-install-recommends openjdk-17-jre-headless maven, then npm run setup -- --tests',
        cause,
      })
    }
    return { paths: { testServer: program } }
  },
}

async function installJava(say) {
  const absent = []
  if (!(await which('java'))) absent.push('default-jre-headless')
  if (!(await which('mvn'))) absent.push('maven')
  if (absent.length === 0) return
  if (!isRoot) throw new Error(`${absent.join(' and ')} not installed`)
  await updateLists(say)
  await aptGet(['install', '-y', '--no-install-recommends', ...absent], { onLine: say })
}

/** Maven resolves the server's dependencies and copies the jars; a wrapper makes one program of them. */
async function fetchJars(into, say) {
  const mvn = await which('mvn')
  await writeFile(path.join(into, 'pom.xml'), pom)
  await mkdir(path.join(into, 'jars'))
  const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions.mavenDependencyPlugin}:copy-dependencies`
  await run(
    mvn,
    ['-B', '-q', '-f', path.join(into, 'pom.xml'), plugin, `-DoutputDirectory=${path.join(into, 'jars')}`],
    {
      onLine: say,
    },
  )
  const wrapper = path.join(into, path.basename(program))
  await writeFile(wrapper, launcher)
  await chmod(wrapper, 0o755)
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>roost</groupId><artifactId>test-server</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId>
    <version>${versions.temporalTestServer}</version>
  </dependency></dependencies>
</project>
`

const launcher = `#!/bin/sh
exec java -Xmx512m -XX:+UseSerialGC -cp "$(dirname "$(readlink -f "$0")")/jars/*" io.temporal.testserver.TestServer "$@"
`
