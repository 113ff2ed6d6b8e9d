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
/** Java's classes as they are in memory after a start. */
const archive = path.join(directory, 'classes.jsa')
/** The server begins within seconds; one that does not is not waited for. */
const firstStartLimitMs = 60_000
const portPollMs = 50

/** Temporal's test server skips time: the whole back-off table of a restart policy takes seconds with it. */
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

/** Maven resolves the server's dependencies and copies the jars. */
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

/** At every set-up: it may be another one than when the jars were fetched. */
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
 * The SDK gives the server 5 s to begin. Reading and verifying its classes takes most of a second of
 * processor time, so a busy machine needs longer; with an archive of them it takes a quarter. Java goes on
 * without an archive that does not fit.
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
 * Java writes the archive when the server ends. It names the paths of the jars, so it is made where they
 * stay.
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
