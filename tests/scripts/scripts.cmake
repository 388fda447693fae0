# Whole-program checks, one script each. README.md lists them.
set(scripts ${CMAKE_CURRENT_LIST_DIR})
add_test(NAME script.layers COMMAND bash ${scripts}/check_layers.sh ${PROJECT_SOURCE_DIR})
add_test(NAME script.layers_check COMMAND bash ${scripts}/check_layers_test.sh)
add_test(NAME script.run COMMAND bash ${scripts}/run_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
add_test(NAME script.selftest COMMAND bash ${scripts}/selftest_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
add_test(NAME script.bad_input COMMAND bash ${scripts}/bad_input_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
add_test(NAME script.page_check COMMAND bash ${scripts}/page_test_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
add_test(NAME script.residual_example COMMAND /usr/bin/python3 ${scripts}/page_test.py $<TARGET_FILE:assay>
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/residual_example.md)
add_test(NAME script.reduce COMMAND bash ${scripts}/reduce_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
add_test(NAME script.radii COMMAND /usr/bin/python3 ${scripts}/shrunk_radii.py --check)
add_test(NAME script.unfused COMMAND bash ${scripts}/unfused_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR}
  ${PROJECT_SOURCE_DIR}/datasets/digits/digits.onnx)

# Models that bench/models.py makes are optional too.
set(models ${PROJECT_SOURCE_DIR}/.deps/models)
if(EXISTS ${models}/ocr_rec.onnx)
  add_test(NAME peer.unfused COMMAND bash ${scripts}/unfused_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR}
    ${models}/resnet18.onnx ${models}/resnet50.onnx ${models}/mobilenetv2.onnx ${models}/ocr_det.onnx
    ${models}/ocr_rec.onnx ${models}/ocr_cls.onnx)
  set_tests_properties(peer.unfused PROPERTIES LABELS peer TIMEOUT 600)
endif()

# Peers are optional: scripts/setup --peers installs them.
set(peer_python ${PROJECT_SOURCE_DIR}/.deps/peers/bin/python)
if(EXISTS ${peer_python})
  add_test(NAME peer.written_models
    COMMAND ${peer_python} ${scripts}/written_models_peer.py $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
  set_tests_properties(peer.written_models PROPERTIES LABELS peer TIMEOUT 600)
  add_test(NAME peer.reduce
    COMMAND bash ${scripts}/reduce_test.sh $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR} ${peer_python})
  set_tests_properties(peer.reduce PROPERTIES LABELS peer TIMEOUT 600)
  add_test(NAME peer.foreign
    COMMAND ${peer_python} ${scripts}/foreign_peer.py $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
  set_tests_properties(peer.foreign PROPERTIES LABELS peer TIMEOUT 600)
  add_test(NAME peer.qdq_codes
    COMMAND ${peer_python} ${scripts}/qdq_peer.py $<TARGET_FILE:assay> ${PROJECT_SOURCE_DIR})
  set_tests_properties(peer.qdq_codes PROPERTIES LABELS peer TIMEOUT 600)
endif()
