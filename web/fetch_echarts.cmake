# cmake -DSOURCE=<this folder> -DBUILD=<folder> -P fetch_echarts.cmake: leaves echarts.min.js, echarts.txt and, as a
# sign that they belong to it, package-lock.json in BUILD. Says so and succeeds when they cannot be had.
find_program(NPM npm)
if(NOT NPM)
  message("poet: without npm there is no ECharts, so that poet show makes no web pages")
  return()
endif()

set(work ${BUILD}/npm)
file(MAKE_DIRECTORY ${work})
file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${work})
execute_process(
  COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --fetch-retries=1 --fetch-retry-mintimeout=1000
          --fetch-timeout=60000
  WORKING_DIRECTORY ${work} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 300)
set(package ${work}/node_modules/echarts)
if(NOT result EQUAL 0 OR NOT EXISTS ${package}/dist/echarts.min.js)
  file(WRITE ${BUILD}/npm.log "${output}")
  message("poet: npm could not get ECharts, so that poet show makes no web pages (${BUILD}/npm.log says why)")
  return()
endif()

# The licences of what the file is made of.
set(licences "")
foreach(file IN ITEMS echarts/NOTICE echarts/LICENSE echarts/licenses/LICENSE-d3 zrender/LICENSE tslib/LICENSE.txt)
  file(READ ${work}/node_modules/${file} text)
  string(APPEND licences "==== ${file} ====\n\n${text}\n\n")
endforeach()
file(WRITE ${BUILD}/echarts.txt "${licences}")
file(COPY ${package}/dist/echarts.min.js DESTINATION ${BUILD})
file(REMOVE_RECURSE ${work})
file(COPY ${SOURCE}/package-lock.json DESTINATION ${BUILD})
file(TOUCH ${BUILD}/package-lock.json)
