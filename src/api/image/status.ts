import type { getImages } from '../../contract/operations.ts'
import { splitArgumentLine } from '../../domain/instance/argument-line.ts'
import type { Handler } from '../call.ts'
import type { ApiDeps } from '../deps.ts'
import { findImages } from './list.ts'
import { presentListedImage } from './view.ts'

/** The images of `GET /v1/images/list` in the form that newer clients read. */
export function imagesStatus(deps: ApiDeps): Handler<typeof getImages> {
  return async (request, call) => {
    const images = await findImages(deps, request, call)
    const entries = images.map((image) => {
      const { args, ...entry } = presentListedImage(image)
      return {
        ...entry,
        url: image.digest,
        ...(args !== undefined && { args: [...splitArgumentLine(args)] }),
      }
    })
    return { entries }
  }
}
