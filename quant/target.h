// Constraint tables as data: which layers a vendor's tool can quantize, and under which conditions.
//
// One JSON file per target (quant/targets/*.json, schema assay-target/1; docs/targets.md describes
// it). A table has rows; a row names the nodes that it is about, the answer for them, and its
// constraints, each with the words of its source. A constraint compares one fact about a layer
// (target_facts.h) with the values that the table allows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace assay {

/// What a table says about a layer, from best to worst; `not_listed` stands aside.
enum class LayerAnswer { quantizable, tensor_only, degrades, no, not_listed };
/// "quantizable", "tensor-only", "quantizable-degrades", "no", "not-listed".
std::string to_string(LayerAnswer a);

using FactValue = std::variant<bool, std::int64_t, std::string>;
std::string to_string(const FactValue& v);

/// A fact is one of `values`, or none of them (`negated`), or an integer of at least `at_least`.
struct Condition {
  std::string fact;
  std::vector<FactValue> values = {};
  bool negated = false;
  std::optional<std::int64_t> at_least = {};

  bool allows(const FactValue& v) const;
  /// "dilation = 1", "mode in {0, 1}".
  std::string text() const;
};

/// One cell of a table, or a part of one.
struct Constraint {
  std::string id;
  std::string text;                              ///< the words of the source, in its language
  std::string meaning;                           ///< the same in English
  std::string source;                            ///< "document" or "code"
  std::optional<Condition> when = {};            ///< the constraint applies only then
  std::optional<Condition> check = {};           ///< nothing: it only states an answer
  LayerAnswer otherwise = LayerAnswer::no;       ///< when the check fails
  LayerAnswer gives = LayerAnswer::quantizable;  ///< without a check
  bool error = false;     ///< the tool does not refuse, it breaks (the × cells)
  std::string edit = {};  ///< what would make it pass
};

/// Nodes that a row is about: an operator, or layers of an Ascend IR type by the target's own
/// table.
struct NodeMatch {
  std::string op = {};
  std::string domain = {};  ///< "*": any
  std::string ir = {};
  std::vector<Condition> when = {};
};

struct TargetRow {
  std::string type;
  std::string title;
  std::vector<std::string> ir = {};  ///< types in the tool's own intermediate representation
  std::vector<NodeMatch> match = {};
  LayerAnswer answer = LayerAnswer::quantizable;
  std::vector<Constraint> constraints = {};
  std::vector<Constraint> when_both =
      {};  ///< of a weight-only row: holds when data is quantized too
  std::map<std::string, std::string> cells = {};  ///< columns as printed
  std::string source;
};

/// A constraint on every layer whose row type or IR type is listed ("*": on all).
struct TargetRule {
  struct Type {
    std::string type;
    std::optional<Condition> when = {};
  };
  std::vector<Type> types = {};
  Constraint constraint;
};

/// A sentence of the source that no layer decides.
struct Statement {
  std::string text;
  std::string meaning = {};
  std::string source;
  bool strict = false;  ///< fails a strict run
};

struct Product {
  std::string id;
  std::string title;
};

struct Target {
  std::string name;
  std::string title;
  std::string document_title = {};
  std::string url = {};
  std::string file = {};  ///< where the document is kept in its own tree
  std::string version;
  std::string scheme;            ///< "uniform" or "weight-only"
  std::string weight_only = {};  ///< name of the table for scheme weight-only
  std::vector<Product> products = {};
  std::vector<TargetRule> rules = {};
  std::vector<Statement> statements = {};
  std::vector<std::string> readings = {};  ///< how doubtful places are read
  std::vector<Statement> notes = {};       ///< further facts that decide no layer
  std::vector<TargetRow> rows = {};
};

/// Reads a table. Throws Error naming `where` and the field.
Target parse_target(std::string_view text, const std::string& where);

/// A table that ships with the program, part tables included. Throws Error listing the known names.
const Target& find_target(const std::string& name);
/// Names that --target takes: the tables for scheme uniform.
std::vector<std::string> target_names();
/// The table that --target NAME means. Throws Error listing target_names().
const Target& find_front_end(const std::string& name);

/// The id of a product given by id or by the document's name, whatever the case. Throws Error
/// listing the known ones.
std::string find_product(const Target& target, const std::string& name);

}  // namespace assay
