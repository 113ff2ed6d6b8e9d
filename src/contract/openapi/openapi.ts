import { IsArray } from 'typebox'
import type { TObject } from 'typebox'
import { answerSchema, requestFailure } from '../envelope.ts'
import { failures } from '../errors.ts'
import { operations, plainEndpoints } from '../operations.ts'
import { Scope, identifiersOf } from '../operation.ts'
import type { IdentifierKey, Operation } from '../operation.ts'
import { securityOf, securityScheme, tokenSentence } from './token-security.ts'
import { answerSchemaOf, bodySchemaOf, parameterSchemaOf, pathSchemaOf } from './published-schema.ts'
import { globalBody, namesObjects } from '../request/body.ts'
import { changeForms } from '../request/plain-change.ts'
import { identifierQuery, querySchema } from '../request/query.ts'
import { maxObjectsPerRequest } from '../limits.ts'

type Json = Readonly<Record<string, unknown>>

/** The OpenAPI 3.1 document of the whole API, made from the table of operations and nothing else. */
export function openApiDocument(): Json {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of Object.values(operations) as readonly Operation[]) {
    const method = operation.method.toLowerCase()
    paths[operation.path] = { ...paths[operation.path], [method]: pathOperation(operation, 'global') }
    if (operation.localPath !== undefined) {
      paths[operation.localPath] = {
        ...paths[operation.localPath],
        [method]: pathOperation(operation, 'local'),
      }
    }
  }
  for (const endpoint of plainEndpoints) paths[endpoint.path] = { get: plainOperation(endpoint) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Instance hosting API',
      version: '1',
      description:
        'Instances: small virtual machines that run one application each. Errors: see `RequestFailure`.',
    },
    paths,
    components: {
      securitySchemes: { token: securityScheme },
      schemas: {
        ...operationSchemas(),
        RequestFailure: answerSchemaOf(requestFailure),
        ErrorCodes: errorCodes(),
      },
    },
    security: [{ token: [] }],
  }
}

/** The text of `openapi.json`. */
export function openApiText(): string {
  return `${JSON.stringify(openApiDocument(), undefined, 2)}\n`
}

function pathOperation(operation: Operation, scope: 'global' | 'local'): Json {
  const local = scope === 'local'
  const body = requestBody(operation, local)
  return {
    operationId: local ? `${operation.id}Local` : operation.id,
    tags: [operation.dataKey],
    summary: operation.summary,
    description: `${operation.description} ${tokenSentence(operation)}`,
    security: securityOf(operation.tokenScopes),
    parameters: [...pathParameters(operation, local), ...queryParameters(operation, local)],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...(operation.upgrades === undefined
        ? {}
        : { 101: { description: 'The connection goes on as a WebSocket.' } }),
      200: {
        description: 'The request was carried out; each entry tells of its object.',
        content: answerContent(operation),
      },
      default: {
        description: 'The request as a whole failed.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/RequestFailure' } } },
      },
    },
  }
}

function answerContent(operation: Operation): Json {
  if (operation.streams) {
    return streamContent('event')
  }
  const schema = { $ref: `#/components/schemas/${componentName(operation, 'Answer')}` }
  return {
    'application/json': { schema },
    ...(operation.follows === undefined ? {} : streamContent(operation.follows)),
    ...(operation.textForm === undefined ? {} : { 'text/plain': { schema: { type: 'string' } } }),
  }
}

function streamContent(type: string): Json {
  const description = `The data of each event of the type \`${type}\` is one entry, as JSON.`
  return { 'text/event-stream': { schema: { type: 'string', description } } }
}

function pathParameters(operation: Operation, local: boolean): readonly Json[] {
  const ownerText = 'UUID or name of the object that these are parts of.'
  const owner = pathParameter('owner', ownerText, ['uuid', 'name'])
  const identifiers = identifiersOf(operation)
  const description =
    identifiers.length > 1
      ? 'UUID or name of the object. A name that is the last word of an endpoint, such as `list`, stands for that.'
      : `${identifiers.includes('uuid') ? 'UUID' : 'Name'} of the object.`
  const object = pathParameter('object', description, identifiers)
  return [...(operation.path.includes('{owner}') ? [owner] : []), ...(local ? [object] : [])]
}

function pathParameter(name: string, description: string, identifiers: readonly IdentifierKey[]): Json {
  return { name, in: 'path', required: true, description, schema: pathSchemaOf(identifiers) }
}

function queryParameters(operation: Operation, local: boolean): readonly Json[] {
  const lists = namesObjects(operation) && !local ? identifierQuery(operation) : {}
  const objects = operation.inQuery ? operation.body.properties : {}
  const all = { ...lists, ...objects, ...querySchema(operation).properties }
  return Object.entries(all).map(([name, schema]) => {
    const isList = Object.hasOwn(objects, name) || IsArray(schema)
    return { name, in: 'query', schema: parameterSchemaOf(schema, { isList }) }
  })
}

function requestBody(operation: Operation, local: boolean): Json | undefined {
  const schema = local ? operation.body : globalBody(operation)
  if (Object.keys(schema.properties).length === 0) return undefined
  const reference = (suffix: Suffix) => ({ $ref: `#/components/schemas/${componentName(operation, suffix)}` })
  const plain = reference(local ? 'Parameters' : 'Object')
  const isChange = operation.changes === true
  const one = isChange ? { anyOf: [plain, reference(local ? 'LocalChange' : 'Change')] } : plain
  const isCreate = operation.scope === Scope.Create
  const isNeeded = isCreate || isChange
  const many = { type: 'array', items: one, ...(isNeeded && { minItems: 1 }), maxItems: maxObjectsPerRequest }
  const forms: unknown[] = [one, many]
  if (operation.idsForm !== undefined) forms.push(bodySchemaOf(operation.idsForm))
  return {
    required: isNeeded || (schema as { readonly required?: readonly string[] }).required !== undefined,
    content: { 'application/json': { schema: local && !isChange ? one : { anyOf: forms } } },
  }
}

function plainOperation(endpoint: (typeof plainEndpoints)[number]): Json {
  return {
    operationId: endpoint.path.slice(1).replaceAll(/\W/g, '_'),
    tags: ['platform'],
    summary: endpoint.summary,
    security: endpoint.authenticated ? securityOf(endpoint.tokenScopes) : [],
    ...('query' in endpoint && { parameters: endpoint.query.map(requiredText) }),
    responses: { 200: { description: endpoint.summary }, default: { description: 'Failure.' } },
  }
}

function requiredText(name: string): Json {
  return { name, in: 'query', required: true, schema: { type: 'string' } }
}

type Suffix = 'Object' | 'Parameters' | 'Change' | 'LocalChange' | 'Answer'

function componentName(operation: Operation, suffix: Suffix): string {
  return `${operation.id.charAt(0).toUpperCase()}${operation.id.slice(1)}${suffix}`
}

function operationSchemas(): Json {
  const all = Object.values(operations) as readonly Operation[]
  const schemas: Record<string, unknown> = {}
  for (const operation of all) {
    addBody(schemas, componentName(operation, 'Object'), globalBody(operation))
    if (operation.localPath !== undefined) {
      addBody(schemas, componentName(operation, 'Parameters'), operation.body)
    }
    if (operation.changes) {
      schemas[componentName(operation, 'Change')] = changeSchema(operation, false)
      schemas[componentName(operation, 'LocalChange')] = changeSchema(operation, true)
    }
    if (!operation.streams)
      schemas[componentName(operation, 'Answer')] = answerSchemaOf(answerSchema(operation))
  }
  return schemas
}

function changeSchema(operation: Operation, local: boolean): Json {
  return { anyOf: changeForms(operation, local).map(bodySchemaOf) }
}

function addBody(schemas: Record<string, unknown>, name: string, schema: TObject): void {
  if (Object.keys(schema.properties).length > 0) schemas[name] = bodySchemaOf(schema)
}

function errorCodes(): Json {
  const lines = Object.values(failures).map(({ code, httpStatus, sentence }) => ({
    code,
    httpStatus,
    sentence,
  }))
  return {
    type: 'integer',
    description: 'Codes of `error`, with the sentences they come with.',
    'x-failures': lines,
  }
}
