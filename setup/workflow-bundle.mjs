import { mkdir, rename } from 'node:fs/promises'
import path from 'node:path'
import { exists, run } from './command.mjs'
import { hashOf } from './stamp.mjs'
import { Missing } from './missing.mjs'
import { node24 } from './npm-packages.mjs'
import { cache, checkout } from './paths.mjs'

/**
 * Bundles the workflows once per state of the sources. Without the bundle, each start of a worker would take
 * more than a second longer.
 */
export const workflowBundle = {
  title: 'workflow bundle',
  async bring() {
    const inputs = ['package-lock.json', 'workflows', 'src/domain'].map((one) => path.join(checkout, one))
    const directory = path.join(cache, 'workflow-bundle')
    const bundle = path.join(directory, `${hashOf(inputs)}.js`)
    await mkdir(directory, { recursive: true })
    if (!(await exists(bundle))) await make(bundle)
    return { paths: { workflowBundle: bundle } }
  },
}

async function make(bundle) {
  const unfinished = `${bundle}.${process.pid}`
  const program = path.join(checkout, 'setup', 'bundle-workflows.mjs')
  await run(node24, [program, unfinished], { cwd: checkout }).catch((cause) => {
    throw new Missing({
      what: 'the workflow bundle',
      why: 'the worker runs it',
      command: 'npm run types',
      cause,
    })
  })
  await rename(unfinished, bundle)
}
