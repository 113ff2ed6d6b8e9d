import { registerHooks } from 'node:module'
import { openApiDocument } from '../../src/contract/openapi/openapi.ts'

/** The file with the types of the API's paths, for `src/client`. */
export const apiTypesFile = 'src/client/api-types.ts'

/** The text of that file, made from the contract in the form of `openapi.json`. */
export async function apiTypesText(): Promise<string> {
  // The generator works with the compiler's own objects, which TypeScript 7 does not offer.
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier === 'typescript' ? 'typescript-classic' : specifier, context),
  })
  try {
    const { default: openapiTypes, astToString } = await import('openapi-typescript')
    const document = openApiDocument() as unknown as Parameters<typeof openapiTypes>[0]
    return `${heading}\n${astToString(await openapiTypes(document))}`
  } finally {
    hooks.deregister()
  }
}

const heading =
  '// The types of the API, made from its contract by `npm run api-types`. Do not change them by hand.\n'
