import { RequestError, problem, requestError } from '../../contract/errors.ts'
import type { listImages } from '../../contract/operations.ts'
import type { Page } from '../../contract/request/parsed-request.ts'
import { shortened } from '../../contract/request/validation-problems.ts'
import { parseImageReference, publicImageReference } from '../../domain/image/reference.ts'
import type { ListedImage } from '../../registry/image-listing.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { presentListedImage } from './view.ts'

/** The images that the user may run, as the registry has them now. */
export function imagesList(deps: ApiDeps): Handler<typeof listImages> {
  return async (request, call) => ({
    entries: (await findImages(deps, request, call)).map(presentListedImage),
  })
}

/** The images that a request selects. */
export async function findImages(
  deps: ApiDeps,
  { objects, query, page }: Parameters<Handler<typeof listImages>>[0],
  call: Call,
): Promise<readonly ListedImage[]> {
  const lookups = objects
    .map(({ parameters }) => parameters)
    .filter((lookup) => Object.keys(lookup).length > 0)
  const images = await fromRegistry(call, () =>
    deps.imageListing.list(
      {
        userName: call.identity.userName,
        ...(query.namespace === undefined ? {} : { namespace: query.namespace }),
        ...(query.tagged === undefined ? {} : { tagged: query.tagged }),
        ...(lookups.length === 0 ? {} : { lookups }),
      },
      call.signal,
    ),
  )
  return pageOf(images, page)
}

/**
 * Selects the images of one page. The list is sorted by digest, so the page may begin after an image that
 * has been deleted since.
 */
function pageOf(images: readonly ListedImage[], { count, offset = 0, after }: Page): readonly ListedImage[] {
  const last = after === undefined ? undefined : lastImage(after)
  const rest = last === undefined ? images.slice(offset) : images.filter(({ digest }) => digest > last)
  return rest.slice(0, count)
}

function lastImage(after: string): string {
  const reference = parseImageReference(after)
  if (reference?.digest !== undefined) return publicImageReference(reference)
  const reason = `'${shortened(after)}' is not the digest of an image, such as 'app@sha256:<64 hexadecimal digits>'`
  throw new RequestError([problem('invalidContent', { name: 'from', place: 'the query', reason })])
}

async function fromRegistry<T>(call: Call, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    call.log.warn({ err: error }, 'the image registry failed')
    throw requestError('unavailable')
  }
}
