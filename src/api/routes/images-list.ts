import { requestError } from '../../contract/errors.ts'
import type { listImages } from '../../contract/operations.ts'
import type { Page } from '../../contract/parsed-request.ts'
import type { ListedImage } from '../../registry/image-listing.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import type { Call, Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { presentListedImage } from '../present/image.ts'

/** The images that the user may run, as the registry has them now. */
export function imagesList(deps: ApiDeps): Handler<typeof listImages> {
  return async ({ objects, query, page }, call) => {
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
    return { entries: pageOf(images, page).map(presentListedImage) }
  }
}

function pageOf(images: readonly ListedImage[], { count, offset, after }: Page): readonly ListedImage[] {
  // The list is sorted by name, so a page may begin after an image that is gone by now: then it begins anew.
  const begin = after === undefined ? (offset ?? 0) : images.findIndex((image) => image.digest === after) + 1
  return images.slice(begin, count === undefined ? undefined : begin + count)
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
