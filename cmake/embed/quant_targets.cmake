# Constraint tables that ship with the program.
file(GLOB quant_targets CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/quant/targets/*.json")
assay_embed(quant_targets ${quant_targets})
