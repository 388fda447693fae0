# Numeric profiles that ship with the program.
file(GLOB quant_profiles CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/quant/profiles/*.json")
assay_embed(quant_profiles ${quant_profiles})
