import { mkdtempSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FileVolumes } from '../../../src/host/volumes/file-volumes.ts'
import { imagePath } from '../../../src/host/volumes/volume-directory.ts'
import { volumesConformance } from './conformance.ts'
import { overwrite } from './image.ts'

describe('Volumes in files', function () {
  this.timeout(60_000)
  const directories: string[] = []
  const opened: FileVolumes[] = []

  after(async () => {
    for (const volumes of opened) await volumes.close()
    for (const directory of directories) rmSync(directory, { recursive: true, force: true })
  })

  volumesConformance(async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'roost-volumes-'))
    directories.push(directory)
    const open = async (): Promise<FileVolumes> => {
      const volumes = await FileVolumes.open({ directory, reserveMb: 0 })
      opened.push(volumes)
      return volumes
    }
    return {
      volumes: await open(),
      again: open,
      damage: async (uuid) => {
        await overwrite(imagePath(directory, uuid), 'inode-table')
      },
      lose: async (uuid) => {
        await rm(imagePath(directory, uuid))
      },
    }
  })
})
