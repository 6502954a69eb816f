# cmake --install build --prefix DIR gives DIR/bin/sluice with the libraries of Arrow in DIR/lib/sluice.

if(TARGET sluice)
  set_target_properties(sluice PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  install(TARGETS sluice RUNTIME DESTINATION bin)
endif()
install(FILES ${SluiceArrow_FILES} DESTINATION lib/sluice)
if(EXISTS ${CMAKE_SOURCE_DIR}/include/sluice)
  install(DIRECTORY include/sluice DESTINATION include)
endif()
