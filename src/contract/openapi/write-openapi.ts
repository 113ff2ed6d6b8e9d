import { writeFile } from 'node:fs/promises'
import { openApiText } from './openapi.ts'

/**
 * Writes `openapi.json`. Run it after a change of the contract; a test compares the file with the contract.
 */
await writeFile(new URL('../../../openapi.json', import.meta.url), openApiText())
