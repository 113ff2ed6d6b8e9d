/**
 * Application arguments as one line, for the places of the API where they are a single string. Words are
 * separated by blanks; single and double quotes keep blanks together, a backslash keeps the next character
 * (not inside single quotes). Nothing is expanded.
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

/** The inverse of `splitArgumentLine`: words that need it are quoted. */
export function joinArguments(words: readonly string[]): string {
  return words.map((word) => (/^[^\s'"\\]+$/.test(word) ? word : quoted(word))).join(' ')
}

/**
 * Clients put the arguments of an image, as the one line that the image list shows, before those of their
 * user. The line becomes the words that stand for it. An image without arguments has an empty line. A line
 * that stands alone is left to the caller.
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
