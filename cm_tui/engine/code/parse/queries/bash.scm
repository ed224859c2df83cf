; --- definitions ---
(function_definition name: (word) @name body: (_) @body) @def.function
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)
(program
  (declaration_command "readonly" (variable_assignment name: (variable_name) @name)) @def.constant)
(program
  (declaration_command
    (word) @_flag (variable_assignment name: (variable_name) @name) (#match? @_flag "^-[a-zA-Z]*r")) @def.constant)

; --- documentation ---
(comment) @comment

; --- references ---
(command
  name: (command_name (word) @ref.call)
  (#match? @ref.call "^[\\w:.-]+$")
  (#not-match? @ref.call "^(?:source|\\.|alias|set|echo|printf|exit|return|shift|trap|cd|wait|true|false|:|test|\\[|read|break|continue|eval|exec|export|unset|shopt)$"))
; A function handed over by name.
(command
  name: (command_name (word) @_trap) . argument: (word) @ref.call
  (#any-of? @_trap "trap" "eval" "exec" "command" "sudo" "time" "nohup" "env" "xargs"))

; --- imports ---
(command
  name: (command_name (word) @_source) . argument: (word) @module (#any-of? @_source "source" ".")) @import
(command
  name: (command_name (word) @_source) . argument: (string . (string_content) @module .)
  (#any-of? @_source "source" ".")) @import
(command
  name: (command_name (word) @_source) . argument: (raw_string) @module (#any-of? @_source "source" ".")) @import
; `"$DIR/lib.sh"`: what follows the variable or the substitution.
(command
  name: (command_name (word) @_source)
  . argument: (string . [(simple_expansion) (expansion) (command_substitution)] . (string_content) @module .)
  (#any-of? @_source "source" ".")) @import @tail
(command
  name: (command_name (word) @_source)
  . argument: (concatenation . [(simple_expansion) (expansion) (command_substitution) (string)] . (word) @module .)
  (#any-of? @_source "source" ".")) @import @tail
; A script that is run by its path.
(command name: (command_name (word) @module) (#match? @module "^\\.{1,2}/.*\\.(sh|bash)$")) @import
(command
  name: (command_name (word) @_shell) . argument: (word) @module
  (#any-of? @_shell "bash" "sh" "zsh") (#match? @module "\\.(sh|bash)$")) @import
