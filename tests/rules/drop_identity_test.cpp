// Rule drop_identity: nodes that copy their input.
#include "tests/fusion/net.h"

namespace assay::drop_identity_test {
namespace {

using namespace testing;

constexpr const char* rule = "drop_identity";

TEST(DropIdentity, InTheMiddleAndAtTheEnd) {
  for (const std::string copy : {"Identity(c)", "Dropout(c)", "Cast<to=1>(c)"}) {
    Net middle("c = Relu(x)\nd = " + copy + "\ny = Tanh(d)");
    FusionResult r = fuse(middle.input("x", {2}).build(), {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "Relu, Tanh");
    Net end("c = Relu(x)\ny = " + copy);
    r = fuse(end.input("x", {2}).build(), {.mode = rule});
    EXPECT_EQ(ops_of(r.graph), "Relu");
    EXPECT_EQ(r.graph.name(r.graph.outputs()[0]), "y");
  }
}

TEST(DropIdentity, Declines) {
  Net through("y = Identity(x)");
  expect_declined(through.input("x", {1}).build(), rule, "which no node computes");
  Net both("c = Relu(x)\ny = Identity(c)");
  expect_declined(both.input("x", {1}).outputs({"c", "y"}).build(), rule, "both graph outputs");
  Net mask("y, m = Dropout(x)\nz = Relu(y)");
  expect_declined(mask.input("x", {1}).outputs({"z", "m"}).build(), rule, "mask of Dropout");
  Net training("d = Dropout(x, ratio, train)\nz = Relu(d)");
  training.input("x", {1})
      .constant("ratio", f32({}, {0.5F}))
      .constant("train", Tensor::scalar<bool>(true));
  expect_declined(training.build(), rule, "training_mode = true");
  Net cast("d = Cast<to=11>(x)\nz = Neg(d)");
  EXPECT_TRUE(fuse(cast.input("x", {1}).build(), {.mode = rule}).log.fired.empty());
}

}  // namespace
}  // namespace assay::drop_identity_test
