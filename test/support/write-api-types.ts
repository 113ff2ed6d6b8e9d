/** Writes the types of the API. Run it after a change of the contract; a test compares the two. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { apiTypesFile, apiTypesText } from './generated-api-types.ts'

await writeFile(path.resolve(import.meta.dirname, '../..', apiTypesFile), await apiTypesText())
