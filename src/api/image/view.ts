import type { listImages } from '../../contract/operations.ts'
import type { OperationEntry } from '../../contract/operation.ts'
import type { ListedImage } from '../../registry/image-listing.ts'

export function presentListedImage(image: ListedImage): OperationEntry<typeof listImages> {
  return {
    digest: image.digest,
    tags: [...image.tags],
    initrd: image.hasInitrd,
    size_in_bytes: image.sizeBytes,
    ...(image.args === undefined ? {} : { args: image.args }),
    ...(image.kernelArgs === undefined ? {} : { kernel_args: image.kernelArgs }),
    ...(Object.keys(image.labels).length === 0 ? {} : { labels: { ...image.labels } }),
  }
}
