# What has threads, or is called from several, for ThreadSanitizer: one program, linked with no more than it needs, so
# that this build is a third of the whole one.
set(sources
    unit/base/child_test.cc unit/base/program_test.cc unit/study/workers_test.cc  # processes, from threads too
    unit/compile/compile_threads_test.cc                                    # the main path from several threads
    unit/compile/side_by_side_test.cc                                       # its slices
    unit/shared/interrupt_test.cc                                           # the thread that waits for Ctrl-C
    unit/runtime/transfer_queue_test.cc                                      # transfers in the background
    unit/runtime/storage_speed_test.cc unit/runtime/energy_meter_test.cc  # measuring beside the work
    unit/runtime/trainer_test.cc                                             # training with both
    unit/runtime/plan_change_test.cc                                         # and with another thread after each change
    property/runtime_faithful_property_test.cc                       # the executor and its transfers
    support/faithful.cc support/random_instance.cc support/random_schedule.cc support/runtime_interpreter.cc)
add_executable(thread_tests EXCLUDE_FROM_ALL ${sources} ${PROJECT_SOURCE_DIR}/apps/shared/interrupt.cc)
target_include_directories(thread_tests PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(thread_tests PRIVATE poet::compile poet::runtime poet::study GTest::gtest_main GTest::gmock
                                           nlohmann_json::nlohmann_json fmt::fmt Threads::Threads)
target_compile_definitions(thread_tests PRIVATE POET_TEST_REPOSITORY="${PROJECT_SOURCE_DIR}")
poet_precompile_test(thread_tests)
add_test(NAME thread_tests COMMAND thread_tests WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
# Children of a process with threads may start their own, which ThreadSanitizer does not support and need not watch.
set_tests_properties(thread_tests PROPERTIES TIMEOUT ${hangs_after} ENVIRONMENT
                     "GTEST_OUTPUT=xml:${reports}/thread_tests.xml;TSAN_OPTIONS=halt_on_error=1:die_after_fork=0;${surroundings}")
