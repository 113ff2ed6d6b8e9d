import { writeFile } from 'node:fs/promises'
import { format } from 'prettier'
import { openApiDocument } from './openapi.ts'

/** Writes `openapi.json` anew. Run it after a change of the contract; a test compares the file with the contract. */
const file = new URL('../../openapi.json', import.meta.url)
await writeFile(file, await format(JSON.stringify(openApiDocument()), { parser: 'json', printWidth: 110 }))
