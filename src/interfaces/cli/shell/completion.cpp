#include "interfaces/cli/framework/cli.hpp"
#include "interfaces/cli/framework/command_error.hpp"
#include "interfaces/cli/framework/common_flags.hpp"
#include "interfaces/cli/shell/completion_words.hpp"
#include "interfaces/cli/terminal/screen.hpp"

// The scripts ask the program itself, by the hidden command __complete, what may come next. It gets
// a colon, which ends its own flags, then the words after the program's name up to the cursor. It
// answers a line for each candidate: the word, a tab, a description.
namespace sluice::cli {
namespace {

// Bash splits words at the characters in COMP_WORDBREAKS, such as = and perhaps @. They are put
// together again where no space was between them, and what bash has split off is taken away from
// the answers.
constexpr const char* bash_script = R"script(# Completion of sluice for bash. Use it with:
#   source <(sluice completion bash)
_sluice() {
    local rest=${COMP_LINE:0:COMP_POINT} words=() word gap i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        gap=${rest%%[![:space:]]*}
        rest=${rest#"$gap"}
        if ((i == COMP_CWORD)); then word=$rest; fi
        if [[ -z $gap && ${#words[@]} -gt 0 ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        rest=${rest#"$word"}
    done
    local current=${words[${#words[@]} - 1]} candidate
    [[ $word == *[!=:@]* ]] || word=
    local head=${current%"$word"}
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        if [[ $candidate == "$current"* ]]; then
            COMPREPLY+=("${candidate#"$head"}")
        fi
    done < <("$1" __complete : "${words[@]:1}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -F _sluice sluice
)script";

constexpr const char* zsh_script = R"script(#compdef sluice
# Completion of sluice for zsh. Put it as _sluice into a folder of $fpath, or use it with:
#   source <(sluice completion zsh)
_sluice() {
    local -a candidates
    local line value
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        value=${value//:/\\:}
        if [[ $line == *$'\t'?* ]]; then
            candidates+=("$value:${line#*$'\t'}")
        else
            candidates+=("$value")
        fi
    done < <("${(Q)words[1]}" __complete : "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( ${#candidates} )) && _describe -V sluice candidates
}
if [[ ${funcstack[1]} == _sluice ]]; then
    _sluice "$@"
else
    compdef _sluice sluice
fi
)script";

constexpr const char* fish_script = R"script(# Completion of sluice for fish. Use it with:
#   sluice completion fish | source
function __sluice_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    $program __complete : $words "$current" 2>/dev/null
end
complete -c sluice -f -k -a '(__sluice_complete)'
)script";

int print_script(const std::string& shell) {
    check_word("shell", shell, shell_names());
    const char* script = shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
    write_to(screen_on(1, true), script);
    return exit_ok;
}

}  // namespace

const std::vector<std::string>& shell_names() {
    static const std::vector<std::string> names{"bash", "zsh", "fish"};
    return names;
}

void add_completion_command(Command& program) {
    Command& command =
        program.add_command("completion", "Print a script that lets a shell complete commands");
    command.add_argument("SHELL", &command.runs(print_script), "bash, zsh or fish");
    command.set_footer(examples({
        "source <(sluice completion bash)",
        "mkdir -p ~/.zfunc && sluice completion zsh > ~/.zfunc/_sluice",
        "mkdir -p ~/.config/fish/completions && "
        "sluice completion fish > ~/.config/fish/completions/sluice.fish",
    }));

    Command& complete = program.add_hidden_command("__complete", "What may come next");
    const auto words = std::make_shared<std::vector<std::string>>();
    complete.keep_rest(*words);
    complete.runs([words, &program] {
        if (!words->empty()) words->erase(words->begin());  // the colon
        print_candidates(program, *words);
        return exit_ok;
    });
}

}  // namespace sluice::cli
