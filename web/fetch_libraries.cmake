# cmake -DSOURCE=<this folder> -DBUILD=<folder> -P fetch_libraries.cmake: leaves the libraries, their licences and, as a
# sign that they belong to it, package-lock.json in BUILD. Says so and succeeds when they cannot be had.
find_program(NPM npm)
if(NOT NPM)
  message("poet: without npm there are no libraries for web pages: poet show makes none, poet serve has none")
  return()
endif()

set(work ${BUILD}/npm)
file(MAKE_DIRECTORY ${work})
file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${work})
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000
          --fetch-timeout=60000
  WORKING_DIRECTORY ${work} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 300)
set(libraries ${work}/node_modules/echarts/dist/echarts.min.js ${work}/node_modules/@dagrejs/dagre/dist/dagre.min.js)
foreach(library IN LISTS libraries)
  if(NOT EXISTS ${library})
    set(result 1)
  endif()
endforeach()
if(NOT result EQUAL 0)
  file(WRITE ${BUILD}/npm.log "${output}")
  message("poet: npm could not get the libraries for web pages: poet show makes none, poet serve has none (${BUILD}/npm.log says why)")
  return()
endif()

# The licences of what the files are made of.
set(echarts_parts echarts/NOTICE echarts/LICENSE echarts/licenses/LICENSE-d3 zrender/LICENSE tslib/LICENSE.txt)
set(dagre_parts @dagrejs/dagre/LICENSE @dagrejs/graphlib/LICENSE)
foreach(library IN ITEMS echarts dagre)
  set(licences "")
  foreach(file IN LISTS ${library}_parts)
    file(READ ${work}/node_modules/${file} text)
    string(APPEND licences "==== ${file} ====\n\n${text}\n\n")
  endforeach()
  file(WRITE ${BUILD}/${library}.txt "${licences}")
endforeach()
file(COPY ${libraries} DESTINATION ${BUILD})
file(REMOVE_RECURSE ${work})
file(COPY ${SOURCE}/package-lock.json DESTINATION ${BUILD})
file(TOUCH ${BUILD}/package-lock.json)
