/** One segment of a path. It needs no decoding, and means the same to every reader. */
const segment = /^(?!\.{1,2}$)[\w.~:@-]+$/

/**
 * The path of a request's target, if every reader of it sees the same path. So what is let in by its path is
 * what the endpoints answer. Undefined for anything else: addresses, escapes, backslashes, empty segments,
 * `.` and `..`.
 */
export function plainPath(target: string): string | undefined {
  const [path = ''] = target.split('?', 1)
  const [start, ...segments] = path.split('/')
  // Only the last segment may be empty, as in `/v2/`.
  const isPlain = segments.every(
    (text, index) => segment.test(text) || (text === '' && index === segments.length - 1),
  )
  return start === '' && segments.length > 0 && isPlain && !target.includes('#') ? path : undefined
}
