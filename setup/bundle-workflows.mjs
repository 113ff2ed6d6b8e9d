import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { bundleWorkflowCode } from '@temporalio/worker'

/** Run with Node 24: `bundle-workflows.mjs <output file>`. */
const workflowsPath = path.resolve(import.meta.dirname, '..', 'workflows', 'index.ts')
const { code } = await bundleWorkflowCode({ workflowsPath })
await writeFile(process.argv[2], code)
