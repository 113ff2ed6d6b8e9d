import { isJsonObject, parseJson } from '../domain/json-text.ts'
import { RegistryError, RegistryFailure } from './registry-error.ts'
import { discard, readBody } from './registry-http.ts'
import type { RegistryHttp } from './registry-http.ts'
import { registryCatalog } from './token-issuer.ts'

const maxListPageBytes = 1024 * 1024
/** The most tags of one repository; a longer list is cut. */
export const maxTags = 1_000
/** The most repositories of one namespace; a longer list is cut. */
export const maxRepositories = 500
const listPageSize = 100
/** The most pages of one list that are read. A registry that pages for ever would never end. */
const maxListPages = 20

export async function listTags(
  http: RegistryHttp,
  repository: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const path = `/v2/${repository}/tags/list?n=${listPageSize}`
  const tags = await readList(http, { path, repository, key: 'tags', signal, limit: maxTags })
  return tags.slice(0, maxTags)
}

export async function listRepositories(
  http: RegistryHttp,
  namespace: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const prefix = `${namespace}/`
  const names = await readList(http, {
    // The registry orders `/` before all other characters, so the repositories of a namespace follow
    // directly after its bare name.
    path: `/v2/_catalog?n=${listPageSize}&last=${encodeURIComponent(namespace)}`,
    repository: registryCatalog,
    key: 'repositories',
    signal,
    limit: maxRepositories,
    goOn: (page) => page.every((name) => name.startsWith(prefix)),
  })
  return names.filter((name) => name.startsWith(prefix)).slice(0, maxRepositories)
}

interface ListCall {
  readonly path: string
  readonly repository: string
  readonly key: 'tags' | 'repositories'
  readonly signal: AbortSignal | undefined
  readonly limit: number
  readonly goOn?: (page: readonly string[]) => boolean
}

async function readList(http: RegistryHttp, call: ListCall): Promise<string[]> {
  const found: string[] = []
  let path: string | undefined = call.path
  for (let page = 0; path !== undefined && page < maxListPages && found.length < call.limit; page++) {
    const response: Awaited<ReturnType<RegistryHttp['send']>> = await http.send({
      method: 'GET',
      path,
      repository: call.repository,
      signal: call.signal,
    })
    if (response.statusCode !== 200) {
      await discard(response)
      return found
    }
    const names = listOf(await readBody(response, maxListPageBytes, 'a list of the registry'), call)
    found.push(...names)
    const more = call.goOn === undefined || call.goOn(names)
    path = more ? nextPage(response.headers['link']) : undefined
  }
  return found
}

/** A list without entries may be null: that is how the registry writes the tags of an empty repository. */
function listOf(bytes: Buffer, { path, key }: Pick<ListCall, 'path' | 'key'>): readonly string[] {
  const json = parseJson(bytes.toString('utf8'))
  const list = isJsonObject(json) ? (json[key] ?? []) : undefined
  if (Array.isArray(list)) return list.filter((item): item is string => typeof item === 'string')
  throw new RegistryError(RegistryFailure.Corrupt, `the registry answered ${path} without a list of ${key}`)
}

/** The address in a header such as `</v2/_catalog?last=x&n=100>; rel="next"`. */
function nextPage(link: string | string[] | undefined): string | undefined {
  return /<([^>]+)>;\s*rel="?next"?/.exec(Array.isArray(link) ? link.join(',') : (link ?? ''))?.[1]
}
