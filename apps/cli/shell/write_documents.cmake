# Writes what `poet manual` and `poet completion` say into FOLDER, by the program POET: man1/, bash/, zsh/, fish/.
cmake_minimum_required(VERSION 3.25)
function(write file)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${FOLDER}/${folder})
  execute_process(COMMAND ${POET} ${ARGN} OUTPUT_FILE ${FOLDER}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
write(man1/poet.1 manual)
file(STRINGS ${FOLDER}/man1/poet.1 pages REGEX "^.fBpoet.-[a-z]+.fR\\(1\\)")  # its list of commands
foreach(page IN LISTS pages)
  string(REGEX REPLACE "^.fBpoet.-([a-z]+).*" "\\1" command "${page}")
  write(man1/poet-${command}.1 manual ${command})
endforeach()
write(bash/poet completion bash)
write(zsh/_poet completion zsh)
write(fish/poet.fish completion fish)
file(TOUCH ${FOLDER}/stamp)
