import { settingsTable } from './settings.ts'

/** The text of `docs/settings.md`. */
export function settingsDocument(): string {
  const rows = Object.values(settingsTable).map(
    ({ name, defaultText, meaning }) => `| \`${name}\` | ${asCode(defaultText)} | ${meaning} |`,
  )
  return `# Settings

Roost is set by environment variables; an empty one counts as absent. All parts read the same table, \`src/settings/settings.ts\`, from which
this page is made (\`npx node src/settings/write-settings-document.ts\`).

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}

Set-up reads \`ROOST_CACHE_DIR\` and \`TEMPORAL_CLI_PATH\`, a Temporal CLI to use instead of its own.
`
}

/** Plain values are written as code; sentences are left as they are. */
function asCode(text: string): string {
  return /^[\w.-]+$/.test(text) && text !== 'embedded' ? `\`${text}\`` : text
}
