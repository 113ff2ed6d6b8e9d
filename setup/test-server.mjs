import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { exists, run, which } from './command.mjs'
import { aptGet, updateLists } from './debian-packages.mjs'
import { Missing } from './missing.mjs'
import { cache, isRoot } from './paths.mjs'
import { directoryOnce } from './replace.mjs'
import { versions } from './versions.mjs'

const directory = path.join(cache, `temporal-test-server-${versions.temporalTestServer}`)
const program = path.join(directory, 'temporal-test-server')
/** The file with Java's classes in the form that they have in memory after a start. */
const archive = path.join(directory, 'classes.jsa')
/** How long to wait for the server's first start, which normally takes seconds. */
const firstStartLimitMs = 60_000
const portPollMs = 50

/**
 * Temporal's test server, which skips time: with it a restart policy's whole back-off table takes seconds.
 */
export const testServer = {
  title: 'Temporal test server (tests)',
  async bring({ say }) {
    try {
      await installJava(say)
      await directoryOnce(directory, (into) => fetchJars(into, say))
      await writeLauncher()
      if (!(await exists(archive))) await archiveClasses(say)
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

/** Lets Maven resolve the server's dependencies and copy the jars. */
async function fetchJars(into, say) {
  const mvn = await which('mvn')
  await writeFile(path.join(into, 'pom.xml'), pom)
  await mkdir(path.join(into, 'jars'))
  const plugin = `org.apache.maven.plugins:maven-dependency-plugin:${versions.mavenDependencyPlugin}:copy-dependencies`
  await run(
    mvn,
    [
      '-B',
      '-q',
      '-Dstyle.color=never',
      '-f',
      path.join(into, 'pom.xml'),
      plugin,
      `-DoutputDirectory=${path.join(into, 'jars')}`,
    ],
    {
      onLine: say,
    },
  )
}

/** Writes the program at every set-up, because it may have changed since the jars were fetched. */
async function writeLauncher() {
  const unfinished = `${program}.${process.pid}`
  await writeFile(unfinished, launcher)
  await chmod(unfinished, 0o755)
  await rename(unfinished, program)
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

/**
 * The options of Java. The SDK gives the server 5 s to start. Reading and verifying the classes takes most
 * of a second of processor time, so a busy machine may need longer. With an archive of the classes it takes
 * a quarter of that. If the archive does not fit, Java runs without it.
 */
const javaOptions = [
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xlog:disable',
  '-XX:+IgnoreUnrecognizedVMOptions',
]
const mainClass = 'io.temporal.testserver.TestServer'

const launcher = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec java ${javaOptions.join(' ')} -XX:SharedArchiveFile="$here/classes.jsa" -cp "$here/jars/*" ${mainClass} "$@"
`

/**
 * Makes the archive, which Java writes when the server ends. The archive holds the paths of the jars, so it
 * is made in the final directory.
 */
async function archiveClasses(say) {
  const unfinished = `${archive}.${process.pid}`
  const port = await freePort()
  const classPath = path.join(directory, 'jars', '*')
  const child = spawn(
    'java',
    [...javaOptions, `-XX:ArchiveClassesAtExit=${unfinished}`, '-cp', classPath, mainClass, String(port)],
    { stdio: 'ignore' },
  )
  const ended = once(child, 'exit')
  const limit = AbortSignal.timeout(firstStartLimitMs)
  while (!limit.aborted && child.exitCode === null && !(await listens(port))) await delay(portPollMs)
  child.kill()
  await ended
  if (await exists(unfinished)) await rename(unfinished, archive)
  else say('this java archives no classes; the server starts more slowly')
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

async function listens(port) {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
