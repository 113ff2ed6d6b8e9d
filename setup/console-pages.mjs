import path from 'node:path'
import { run } from './command.mjs'
import { Missing } from './missing.mjs'
import { node24 } from './npm-packages.mjs'
import { cache, checkout } from './paths.mjs'
import { directoryOnce } from './replace.mjs'
import { hashOf } from './stamp.mjs'

/** What the pages are made of. */
const sources = ['package-lock.json', 'setup/build-console.mjs', 'console', 'src/client', 'src/domain']

/** Builds the pages of the console once per state of their sources. */
export const consolePages = {
  title: 'console pages',
  async bring() {
    const hash = hashOf(sources.map((one) => path.join(checkout, one)))
    const directory = path.join(cache, 'console-pages', hash)
    await directoryOnce(directory, make)
    return { paths: { consolePages: directory } }
  },
}

async function make(directory) {
  const program = path.join(checkout, 'setup', 'build-console.mjs')
  await run(node24, [program, directory], { cwd: checkout }).catch((cause) => {
    throw new Missing({
      what: 'the pages of the console',
      why: 'the API serves them below /console/',
      command: 'npm run types',
      cause,
    })
  })
}
