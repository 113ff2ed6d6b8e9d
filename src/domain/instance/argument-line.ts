/**
 * Splits application arguments that are one line, for the places of the API where they are a single string.
 * Words are separated by blanks. Single and double quotes keep blanks together, and a backslash keeps the
 * next character (not inside single quotes). Nothing is expanded.
 */
export function splitArgumentLine(line: string): readonly string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at)
    if (char === '\\' && quote !== "'" && at + 1 < line.length) {
      word = (word ?? '') + line.charAt(++at)
    } else if (quote !== undefined) {
      if (char === quote) quote = undefined
      else word = (word ?? '') + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else {
      word = (word ?? '') + char
    }
  }
  if (word !== undefined) words.push(word)
  return words
}

/** The inverse of `splitArgumentLine`. Words that need quotes get them. */
export function joinArguments(words: readonly string[]): string {
  return words.map((word) => (/^[^\s'"\\]+$/.test(word) ? word : quoted(word))).join(' ')
}

/**
 * Replaces the argument line of an image by its words. Clients send the image's arguments, as the one line
 * that the image list shows, before those of their user. The line of an image without arguments is empty. A
 * line without further arguments is left to the caller.
 */
export function expandImageLine(
  args: readonly string[],
  image: { readonly line: string; readonly words: readonly string[] },
): readonly string[] {
  const [first, ...rest] = args
  return rest.length > 0 && first === image.line ? [...image.words, ...rest] : args
}

function quoted(word: string): string {
  return `"${word.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
