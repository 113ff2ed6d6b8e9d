/** One thing that was done. The Web UI shows the last of them. Plain JSON. */
export interface StoryLine {
  readonly atMs: number
  readonly what: string
}

/** The most lines of a story that are kept. */
const longestStory = 50

export function continuedStory(
  story: readonly StoryLine[],
  done: readonly string[],
  atMs: number,
): readonly StoryLine[] {
  return [...story, ...done.map((what) => ({ atMs, what }))].slice(-longestStory)
}

/** The text of the Web UI: what is so now, and below it what was done. */
export function storyText(now: string, story: readonly StoryLine[]): string {
  const lines = story.map(({ atMs, what }) => `- ${new Date(atMs).toISOString()}: ${what}`)
  return [now, '', ...lines].join('\n')
}
