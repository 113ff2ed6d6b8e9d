import { isImageDigest, isImageTag, isRepositoryName } from '../../domain/image/reference.ts'

/** What a request asks of the registry, as far as its owner has to know it. */
export type RegistryRequest =
  /** A request that writes nothing. */
  | { readonly kind: 'read'; readonly repository?: string; readonly blob?: string }
  | { readonly kind: 'start-upload'; readonly repository: string; readonly mount?: string }
  | { readonly kind: 'send'; readonly repository: string; readonly upload: string }
  | { readonly kind: 'commit'; readonly repository: string; readonly upload: string; readonly digest: string }
  | { readonly kind: 'cancel'; readonly repository: string; readonly upload: string }
  | { readonly kind: 'put-manifest'; readonly repository: string; readonly reference: string }
  | { readonly kind: 'delete-manifest'; readonly repository: string; readonly reference: string }
  /** A request that the owner does not let through. */
  | { readonly kind: 'other' }

const uploadPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const other: RegistryRequest = { kind: 'other' }

/**
 * Reads the method and target of a request. Only names that the registry itself permits are recognised, so
 * that they can be parts of paths.
 */
export function parseRegistryRequest(method: string, target: string): RegistryRequest {
  const [pathname = '', ...queries] = target.split('?')
  const query = new URLSearchParams(queries.join('?'))
  if (method === 'GET' || method === 'HEAD') return readOf(pathname)
  const uploads = /^\/v2\/(.+)\/blobs\/uploads\/([^/]*)$/.exec(pathname)
  if (uploads !== null) {
    const [, repository = '', upload = ''] = uploads
    return isRepositoryName(repository) ? uploadOf(method, { repository, upload, query }) : other
  }
  const manifest = /^\/v2\/(.+)\/manifests\/([^/]+)$/.exec(pathname)
  const [, repository = '', reference = ''] = manifest ?? []
  if (!isRepositoryName(repository) || !(isImageDigest(reference) || isImageTag(reference))) return other
  if (method === 'PUT') return { kind: 'put-manifest', repository, reference }
  return method === 'DELETE' ? { kind: 'delete-manifest', repository, reference } : other
}

function readOf(pathname: string): RegistryRequest {
  const [, repository = '', blob = ''] = /^\/v2\/(.+)\/blobs\/(sha256:[0-9a-f]{64})$/.exec(pathname) ?? []
  return isRepositoryName(repository) ? { kind: 'read', repository, blob } : { kind: 'read' }
}

function uploadOf(
  method: string,
  { repository, upload, query }: { repository: string; upload: string; query: URLSearchParams },
): RegistryRequest {
  if (method === 'POST' && upload === '') {
    const mount = query.get('mount')
    return mount !== null && isImageDigest(mount)
      ? { kind: 'start-upload', repository, mount }
      : { kind: 'start-upload', repository }
  }
  if (!uploadPattern.test(upload)) return other
  if (method === 'PATCH') return { kind: 'send', repository, upload }
  if (method === 'DELETE') return { kind: 'cancel', repository, upload }
  const digest = query.get('digest') ?? ''
  return method === 'PUT' && isImageDigest(digest) ? { kind: 'commit', repository, upload, digest } : other
}
