// Recurrent cells over 5 steps, the batch brought to the front again.
#include "validation/selftest/model.h"
#include "validation/selftest/net_maker.h"

namespace assay::selftest::recurrent_model {
namespace {

/// `gates`: rows of the weights per hidden unit.
void cell(NetMaker& m, const std::string& x, const std::string& op, std::int64_t gates) {
  constexpr std::int64_t inputs = 7, hidden = 6;
  const std::string all = m.inner(op + "_all", op,
                                  {x, m.weight(op + "_w", {1, gates * hidden, inputs}, 0.3F),
                                   m.weight(op + "_r", {1, gates * hidden, hidden}, 0.3F),
                                   m.weight(op + "_b", {1, 2 * gates * hidden}, 0.3F)},
                                  {{"hidden_size", hidden}});
  m.node(op, "Transpose", {all}, {{"perm", std::vector<std::int64_t>{2, 0, 1, 3}}});
}

Graph make(const std::string&) {
  NetMaker m("recurrent");
  const std::string x = m.inner("steps_first", "Transpose", {m.input("x", {5, 7})},
                                {{"perm", std::vector<std::int64_t>{1, 0, 2}}});
  cell(m, x, "RNN", 1);
  cell(m, x, "GRU", 3);
  cell(m, x, "LSTM", 4);
  return m.take();
}

const RegisterModel registered{
    {.name = "recurrent", .evaluations = float_evaluations, .make = make}};

}  // namespace
}  // namespace assay::selftest::recurrent_model
