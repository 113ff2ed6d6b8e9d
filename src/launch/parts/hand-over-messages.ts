/** What the supervisor and a part that hands over its work say to each other (`Part.handsOver`). */
export const HandOverMessage = {
  /** Of the part: it wants to leave, has given away what only one process may have, and works on. */
  Leaving: 'leaving',
  /** Of the supervisor: a successor is ready, so the part may end what it has and leave. */
  LetGo: 'let-go',
} as const
