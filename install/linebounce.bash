# Completion of linebounce for bash; zsh reads it after `autoload -U bashcompinit && bashcompinit`. Words come from the
# program itself: its --help has the subcommands and options, `list` the names.

_linebounce_words() {  # of "linebounce WORDS --help": subcommands and options
  linebounce "$@" --help 2>/dev/null | sed -nE 's/^  (-[a-zA-Z],)?(--[a-z-]+).*/\2/p; s/^  ([a-z][a-z-]+)( .*)?$/\1/p'
}

_linebounce_names() {  # of a kind
  linebounce list "$1" 2>/dev/null | sed -nE 's/^ *([A-Za-z0-9_\/-]+)( .*)?$/\1/p'
}

_linebounce_kinds() {
  linebounce list --json 2>/dev/null | sed -nE 's/^  "name": "([a-z]+)",$/\1/p'
}

_linebounce() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=("${COMP_WORDS[1]}")
  [[ ${command[0]} == trace && $COMP_CWORD -gt 2 ]] && command+=("${COMP_WORDS[2]}")
  local words
  if ((COMP_CWORD == 1)); then
    words=$(_linebounce_words)
  elif [[ ${command[*]} == trace && $COMP_CWORD -eq 2 ]]; then
    words=$(_linebounce_words trace)
  elif [[ $before == --machine ]]; then
    words=$(_linebounce_names machines)
  elif [[ $word == -* ]]; then
    words=$(_linebounce_words "${command[@]}")
  else
    case "${command[*]}" in
      run | reproduce | validate | what-if | sweep | "trace record") words=$(_linebounce_names experiments) ;;
      check) words=$(_linebounce_names protocols) ;;
      teach)
        [[ $before == --lesson ]] && words=$(linebounce teach 2>/dev/null | sed -nE 's/^  ([a-z0-9-]+) .*/\1/p')
        ;;
      list) words=$(_linebounce_kinds) ;;
      describe)
        if ((COMP_CWORD == 2)); then
          words=$(_linebounce_kinds | sed -E 's/ies$/y/; s/s$//')
        else
          words=$(_linebounce_names "${COMP_WORDS[2]}")
        fi
        ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "${words:-}" -- "$word")
}

_linebounce_probe() {
  local words
  words=$(linebounce-probe --help 2>/dev/null | sed -nE 's/^  (-[a-zA-Z],)?(--[a-z-]+).*/\2/p')
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}")
}

complete -o default -F _linebounce linebounce
complete -o default -F _linebounce_probe linebounce-probe
