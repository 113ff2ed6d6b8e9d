import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { bundleWorkflowCode } from '@temporalio/worker'

/** Run with Node 24: `bundle-workflows.mjs <output file>`. */
const workflows = path.resolve(import.meta.dirname, '..', 'workflows')
const { code } = await bundleWorkflowCode({
  workflowsPath: path.join(workflows, 'index.ts'),
  workflowInterceptorModules: [path.join(workflows, 'trace-interceptors.ts')],
})
await writeFile(process.argv[2], code)
