import type { VNode } from 'preact'
import { succeeded } from '../../src/client/answers.ts'
import type { Entry } from '../../src/client/answers.ts'
import { api } from '../frame/api.ts'
import { Command } from '../frame/command.tsx'
import { installation } from '../frame/installation.ts'
import { ObjectListPage } from '../object/list-page.tsx'
import type { ListKind } from '../object/list-page.tsx'
import { ObjectStore } from '../object/store.ts'

type Image = Entry<'ListImagesAnswer'>

export const images = new ObjectStore<Image>({
  read: async (signal) => succeeded(await api.GET('/v1/images/list', { signal })),
  concerns: ({ object: { type } }) => type === 'image',
})

const pushCommand = 'npx roost push ./my-image.tar hello:latest'
const shownDigits = 12
const bytesPerMib = 1_048_576

const kind: ListKind<Image> = {
  title: 'Images',
  plural: 'images',
  store: images,
  heads: { name: 'Tag', state: 'Size', about: 'Other tags', amount: 'Digest' },
  cellsOf: ({ digest, tags, size_in_bytes: size }) => {
    const [name = digest.split('@')[0] ?? digest, ...others] = tags
    return {
      key: digest,
      name,
      address: undefined,
      state: <span class="soft number">{(size / bytesPerMib).toFixed(1)} MiB</span>,
      about: others.join(', '),
      amount: shortDigest(digest),
    }
  },
  empty: {
    title: 'No images yet',
    text:
      'An image is what an instance runs. Save one with docker save, or as an OCI layout, then push it ' +
      'into the registry.',
    label: 'the command that pushes an image',
    command: () => pushCommand,
  },
  above: () => <HowToPush />,
}

/** All images that the account may run. */
export const ImagesPage = (): VNode => <ObjectListPage kind={kind} />

function HowToPush(): VNode {
  return (
    <details class="card more">
      <summary>Push an image</summary>
      <div class="form-part">
        <p class="soft">
          From an archive of <code>docker save</code>, or from an OCI layout:
        </p>
        <Command label="the command that pushes an image" text={pushCommand} />
        <p class="soft">
          Other tools push to the registry <code>{installation.value?.registry}</code> with your name and your
          token as the password.
        </p>
      </div>
    </details>
  )
}

function shortDigest(digest: string): string {
  return (digest.split('sha256:')[1] ?? digest).slice(0, shownDigits)
}
