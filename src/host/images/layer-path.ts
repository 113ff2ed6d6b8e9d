import { LayerError, printable } from './tar-entry.ts'

/** The most bytes of a name and of a path that Linux permits. */
const maxNameBytes = 255
const maxPathBytes = 4096

/**
 * The names of which a path in an archive consists, seen from the root of the image. A leading slash and `.`
 * mean nothing. `..` is refused: it could reach nothing outside, but no honest archive has it.
 */
export function pathComponents(path: string): readonly string[] {
  if (path.length > maxPathBytes)
    throw new LayerError(`a path of ${path.length} bytes is over ${maxPathBytes}`)
  const components = path.split('/').filter((name) => name !== '' && name !== '.')
  for (const name of components) {
    if (name === '..') throw new LayerError(`the path ${printable(path)} leaves the image`)
    if (name.length > maxNameBytes)
      throw new LayerError(`the name ${printable(name)} is over ${maxNameBytes} bytes`)
    if (name.includes('\0')) throw new LayerError(`the path ${printable(path)} has a zero byte`)
  }
  return components
}

/**
 * Checks the target of a symbolic link. It may be absolute and may contain `..`: it is only followed inside
 * the image.
 */
export function checkSymlinkTarget(target: string): void {
  if (target === '' || target.length >= maxPathBytes || target.includes('\0')) {
    throw new LayerError(`the symbolic link target ${printable(target)} is not usable`)
  }
}
