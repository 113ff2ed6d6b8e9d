import type { KernelImage } from '../images/images.ts'
import type { GuestProcess } from './vmm.ts'

/**
 * The longest command line of a user's kernel. The VMM reads a line of settings of up to 1024 bytes, and the
 * setting's name takes some of them.
 */
export const maxKernelLineBytes = 1_000

/** Thrown for a word or a line that can not stand in a kernel's command line. */
export class UnfitForKernelLine extends Error {
  override readonly name = 'UnfitForKernelLine'
}

/**
 * The command line of a user's own kernel: the image's arguments, the environment as `NAME=value`, and after
 * `--` the application's arguments. Linux and unikernels use this form. No way of quoting is understood by
 * every kernel, so a word that would need quotes is refused instead of changed.
 */
export function ownKernelLine(image: Pick<KernelImage, 'kernelArgs'>, process: GuestProcess): string {
  const variables = Object.entries(process.env).map(([name, value]) =>
    word(`variable ${name}`, `${name}=${value}`),
  )
  const words = process.argv.map((argument, index) => word(`argument ${index}`, argument))
  const line = [...image.kernelArgs, ...variables, ...(words.length === 0 ? [] : ['--', ...words])].join(' ')
  if (/["\n\0]/.test(line))
    throw new UnfitForKernelLine(
      'arguments and environment of a kernel can not hold quotes, line ends or NUL bytes',
    )
  const bytes = Buffer.byteLength(line)
  if (bytes <= maxKernelLineBytes) return line
  throw new UnfitForKernelLine(
    `arguments and environment make ${bytes} bytes, but a kernel takes ${maxKernelLineBytes} at most`,
  )
}

/**
 * Returns `text` if it is one word. A value may be a secret, so an error names the variable and not its
 * value.
 */
function word(what: string, text: string): string {
  if (text !== '' && !/\s/.test(text)) return text
  throw new UnfitForKernelLine(
    `${what} is empty or holds blanks, which can not stand in a kernel's command line`,
  )
}

/**
 * The content of a settings file for the VMM. Other users of the host can not read it, unlike the VMM's
 * arguments.
 */
export function kernelLineFile(line: string): string {
  return `[machine]\n  append = "${line}"\n`
}
