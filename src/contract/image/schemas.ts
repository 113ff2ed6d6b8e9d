import { Type } from 'typebox'
import { closed, count } from '../fields.ts'

export const imageQuery = closed({
  namespace: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "A user's name, `official`, or `<user>/<app>`.",
    }),
  ),
  tagged: Type.Optional(Type.Boolean({ description: 'Only images that have a tag.' })),
})

export const imageFilterBody = closed({
  digest: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 512,
      description: '`sha256:<hex>`, or with the name before an `@`.',
    }),
  ),
  tag: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, description: '`<name>:<tag>`, or the tag alone.' }),
  ),
})

export const imageEntry = closed({
  digest: Type.String({ description: '`<name>@sha256:<hex>`.' }),
  tags: Type.Array(Type.String({ description: '`<name>:<tag>`.' })),
  initrd: Type.Boolean({ description: 'The image has an initial file system.' }),
  size_in_bytes: count('Size with the initial file system.'),
  args: Type.Optional(Type.String({ description: 'Default arguments.' })),
  kernel_args: Type.Optional(Type.String({ description: 'Arguments of the kernel.' })),
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
})

/** The entry as newer clients read it. */
export const linkedImageEntry = closed({
  ...imageEntry.properties,
  url: Type.String({ description: 'As in `image` of a creation.' }),
  args: Type.Optional(Type.Array(Type.String(), { description: 'Default arguments.' })),
})
