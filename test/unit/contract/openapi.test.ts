import { strict as assert } from 'node:assert'
import { readFile } from 'node:fs/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { openApiDocument, openApiText } from '../../../src/contract/openapi/openapi.ts'
import { operations } from '../../../src/contract/operations.ts'
import type { Operation } from '../../../src/contract/operation.ts'

type Json = Readonly<Record<string, any>> // oxlint-disable-line typescript/no-explicit-any

describe('openapi.json', () => {
  const document = openApiDocument() as Json
  const table = Object.values(operations) as readonly Operation[]

  it('is what the contract makes of it: run src/contract/openapi/write-openapi.ts after a change', async () => {
    assert.equal(await readFile('openapi.json', 'utf8'), openApiText())
  })

  it('has every operation in every scope under an id of its own', () => {
    const ids: string[] = []
    for (const operation of table) {
      for (const path of [operation.path, operation.localPath].filter((each) => each !== undefined)) {
        const found = document['paths'][path]?.[operation.method.toLowerCase()]
        assert.ok(found, `${operation.method} ${path}`)
        ids.push(found.operationId)
      }
    }
    assert.equal(new Set(ids).size, ids.length)
  })

  it('has only references that lead somewhere', () => {
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    const names = new Set([...references].map((match) => match[1]!))
    assert.ok(names.size > 0)
    for (const name of names) assert.ok(document['components'].schemas[name], name)
  })

  it('has schemas that are valid in the dialect of JSON Schema that it names', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: true })
    formats.default(ajv)
    for (const schema of Object.values(document['components'].schemas)) {
      assert.equal(ajv.validateSchema(schema as object), true)
    }
  })

  it('names no keyword of our own but those that the document explains', () => {
    assert.ok(!openApiText().includes('x-place'))
    assert.ok(!openApiText().includes('object-name'))
  })

  it('describes every parameter of the query', () => {
    for (const path of Object.values(document['paths'] as Json)) {
      for (const operation of Object.values(path as Json)) {
        for (const parameter of (operation as Json)['parameters'] ?? []) {
          if (parameter.in === 'query') assert.ok(parameter.schema, parameter.name)
        }
      }
    }
  })
})
