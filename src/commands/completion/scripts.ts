/**
 * The completions of each shell. All of them ask the program itself what may come next, so they never differ
 * from its commands. The answer is a word per line; the last word that is handed over is the one to complete.
 */
export const completionScripts: Readonly<Record<string, string>> = {
  bash: `_roost() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <("\${COMP_WORDS[0]}" complete-words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 0 ]]; then
    compopt -o default
  fi
}
complete -F _roost roost
`,
  zsh: `#compdef roost
_roost() {
  local -a found
  found=("\${(@f)$("\${words[1]}" complete-words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found:#}")
  if (( \${#found} )); then
    compadd -a found
  else
    _files
  fi
}
compdef _roost roost
`,
  fish: `function __roost_words
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete-words -- $words[2..-1] 2>/dev/null
end
complete -c roost -f -a '(__roost_words)'
complete -c roost -n '__fish_seen_subcommand_from push login upload up down' -F
`,
}
