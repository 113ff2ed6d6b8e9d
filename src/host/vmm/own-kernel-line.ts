import type { KernelImage } from '../images/images.ts'
import type { GuestProcess } from './vmm.ts'

/** The VMM reads a setting line of 1024 bytes; some of it is the setting's name. */
export const maxKernelLineBytes = 1_000

/** Said of what can not stand in a kernel's command line. */
export class UnfitForKernelLine extends Error {
  override readonly name = 'UnfitForKernelLine'
}

/**
 * The command line of a user's own kernel: the arguments of the image, the environment as `NAME=value`, and
 * behind `--` the arguments for the application, which is how Linux and unikernels have it. Words can not be
 * quoted in a way that every kernel understands, so what would need quotes is refused and not mangled.
 */
export function ownKernelLine(image: Pick<KernelImage, 'kernelArgs'>, process: GuestProcess): string {
  const variables = Object.entries(process.env).map(([name, value]) =>
    word(`variable ${name}`, `${name}=${value}`),
  )
  const words = process.argv.map((argument, index) => word(`argument ${index}`, argument))
  const line = [...image.kernelArgs, ...variables, ...(words.length === 0 ? [] : ['--', ...words])].join(' ')
  if (/["\n\0]/.test(line)) throw new UnfitForKernelLine('a kernel can not be given quotes or line ends')
  const bytes = Buffer.byteLength(line)
  if (bytes <= maxKernelLineBytes) return line
  throw new UnfitForKernelLine(
    `arguments and environment make ${bytes} bytes, a kernel takes ${maxKernelLineBytes}`,
  )
}

/** Values may be secrets: a message names a variable, never what it holds. */
function word(what: string, text: string): string {
  if (text !== '' && !/\s/.test(text)) return text
  throw new UnfitForKernelLine(`${what} is empty or holds blanks, which a kernel can not be given`)
}

/** A settings file for the VMM. Unlike its arguments, nobody else can read it. */
export function kernelLineFile(line: string): string {
  return `[machine]\n  append = "${line}"\n`
}
