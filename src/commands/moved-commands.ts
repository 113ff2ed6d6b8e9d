/** The subcommands that only operators have, and that stood where users' commands stand now. */
const operatorsOwn: Readonly<Record<string, readonly string[]>> = {
  token: ['list', 'revoke'],
  volume: ['list', 'repair'],
  cert: ['list', 'retry'],
  autoscale: ['simulate'],
  explain: [],
}
/** The options that only operators' commands have. */
const operatorsOptions = ['--user', '--json', '--developer', '--expires']

/**
 * What to tell somebody who calls an operators' command as it was called before users had commands.
 * Undefined if the call is one of a user's.
 */
export function movedCommand(args: readonly string[]): string | undefined {
  const [command = '', subcommand = '', argument] = args
  const own = Object.hasOwn(operatorsOwn, command) ? operatorsOwn[command] : undefined
  if (own === undefined) return undefined
  const isOwn =
    own.includes(subcommand) ||
    args.some((arg) => operatorsOptions.some((option) => arg === option || arg.startsWith(`${option}=`))) ||
    // Operators name the user whose token it is; users make their own.
    (command === 'token' && subcommand === 'create' && argument !== undefined && !argument.startsWith('-'))
  if (!isOwn) return undefined
  const words = command === 'explain' ? command : `${command} ${subcommand}`
  return (
    `\`roost ${words}\` in this form is an operators' command: it is \`roost admin ${words}\` now. ` +
    `\`roost ${command} --help\` has the users' command`
  )
}
