# Published hashes of the networks of assay selftest.
assay_embed(selftest_hashes validation/selftest/hashes.json)
