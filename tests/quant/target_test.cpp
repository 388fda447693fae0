// The constraint tables, cell by cell: what the program holds against the page's own words.
//
// The literals below were copied by hand from the vendor's page (CANN commercial 9.0.0,
// "支持量化的层 及约束"), a cell as it stands there, followed by what it demands in the notation of
// Condition::text().
#include "quant/target.h"

#include <gtest/gtest.h>

#include "quant/target_facts.h"
#include "runtime/error.h"
#include "runtime/file.h"
#include "tests/support/source_dir.h"

namespace assay::target_test {
namespace {

struct Cell {
  std::string type;         ///< first column
  std::string constraints;  ///< second column, as printed
  std::string ir;           ///< third column, as printed
  std::vector<std::string> demands;
};

const std::string weight = "weight_dynamic = false";
const std::string products = "product in {atlas-200i-500-a2, atlas-a2, atlas-a3, atlas-350}";

const std::vector<Cell> caffe = {
    {"InnerProduct：全连接层",
     "transpose属性为false，axis为1",
     "FullyConnection",
     {"transpose = false", "axis = 1"}},
    {"Convolution：卷积层", "filter维度为4", "Conv2D", {"filter_rank = 4"}},
    {"Deconvolution：反卷积层",
     "dilation为1、filter维度为4",
     "Deconvolution",
     {"dilation = 1", "filter_rank = 4"}},
    {"Pooling",
     "mode为1，全量化（weight+tensor），global_pooling为false，不支持移位N操作 "
     "mode为0，只做tensor量化",
     "Pooling",
     {"mode in {0, 1}", "if mode = 1: quantizable", "if mode = 1: global_pooling = false",
      "if mode = 1: shift_n = 0", "if mode = 0: tensor-only"}},
    {"Eltwise", "只做tensor量化且operation=1", "Eltwise", {"tensor-only", "operation = 1"}},
};

const std::vector<Cell> tensorflow = {
    {"MatMul：全连接层",
     "transpose_a为False，transpose_b为False，adjoint_a为False，adjoint_b为False "
     "weight的输入来源不含有placeholder等可动态变化的节点",
     "MatMulV2",
     {"transpose_a = false", "transpose_b = false", "adjoint_a = false", "adjoint_b = false",
      weight}},
    {"Conv2D：卷积层", "weight的输入来源不含有placeholder等可动态变化的节点", "Conv2D", {weight}},
    {"DepthwiseConv2dNative：Depthwise卷积层",
     "weight的输入来源不含有placeholder等可动态变化的节点",
     "DepthwiseConv2D",
     {weight}},
    {"Conv2DBackpropInput",
     "dilation为1，weight的输入来源不含有placeholder等可动态变化的节点",
     "Conv2DBackpropInput",
     {"dilation = 1", weight}},
    {"BatchMatMulV2",
     "adj_x=False 如果第二路输入为常量const，则要求为2维 "
     "当两路输入都为变量tensor时，仅支持INT8对称量化 "
     "当两路输入都为变量tensor时，仅在以下产品能获得收益，其他产品量化后精度会下降。 "
     "Atlas 200I/500 A2 推理产品 Atlas A2 训练系列产品 / Atlas A2 推理系列产品 "
     "Atlas A3 训练系列产品 / Atlas A3 推理系列产品 Atlas 350 加速卡",
     "BatchMatMulV2",
     {"adj_x = false", "if second_constant = true: second_rank = 2",
      "if two_variables = true: activation_asymmetric = false",
      "if two_variables = true: " + products + " else quantizable-degrades"}},
    {"AvgPool", "不支持移位N操作", "AvgPool", {"shift_n = 0"}},
    {"Conv3D", "dilation_d为1", "Conv3D", {"dilation_d = 1"}},
    {"MaxPool", "只做tensor量化", "MaxPool、MaxPoolV3", {"tensor-only"}},
    {"Add",
     "只做tensor量化，且只支持单路输入的量化",
     "Add",
     {"tensor-only", "quantized_inputs = 1"}},
};

const std::vector<Cell> onnx = {
    {"Conv：卷积层",
     "filter维度为5的情况下，要求dilation_d为1 weight的输入来源不含有placeholder等可动态变化的节点",
     "Conv2D、Conv3D",
     {"if filter_rank = 5: dilation_d = 1", weight}},
    {"Gemm：广义矩阵乘",
     "transpose_a=false weight的输入来源不含有placeholder等可动态变化的节点",
     "MatMulV2",
     {"transpose_a = false", weight}},
    {"ConvTranspose：转置卷积",
     "dilation为1、filter维度为4 weight的输入来源不含有placeholder等可动态变化的节点",
     "Conv2DTranspose",
     {"dilation = 1", "filter_rank = 4", weight}},
    {"MatMul",
     "如果第二路输入为常量const，则要求为2维 当两路输入都为变量tensor时，仅支持INT8对称量化 "
     "两路输入都为变量tensor量化场景，只在以下产品能获得收益，其他产品量化后精度会下降 "
     "Atlas 200I/500 A2 推理产品 Atlas A2 训练系列产品 / Atlas A2 推理系列产品 "
     "Atlas A3 训练系列产品 / Atlas A3 推理系列产品 Atlas 350 加速卡 "
     "weight的输入来源不含有placeholder等可动态变化的节点",
     "BatchMatMulV2",
     {"if second_constant = true: second_rank = 2",
      "if two_variables = true: activation_asymmetric = false",
      "if two_variables = true: " + products + " else quantizable-degrades",
      "if two_variables = false: " + weight}},
    {"AveragePool",
     "global_pooling为false，不支持移位N操作",
     "AvgPoolV2",
     {"global_pooling = false", "shift_n = 0"}},
    {"MaxPool", "只做tensor量化", "MaxPool、MaxPoolV3", {"tensor-only"}},
    {"Add",
     "只做tensor量化，且只支持单路输入的量化",
     "Add",
     {"tensor-only", "quantized_inputs = 1"}},
};

/// The page's columns of the weight-only table, then the two that the × cells demand of a
/// quantization of weights and data together.
struct WeightOnlyRow {
  std::string ir, alone_channel_wise, alone_asymmetric, both_channel_wise, both_asymmetric,
      constraints;
  std::vector<std::string> demands;
};
const std::vector<WeightOnlyRow> weight_only = {
    {"MatMulV2",
     "√",
     "true",
     "×",
     "×",
     "第二路的输入来源不含有placeholder等可动态变化的节点。",
     {"weight_asymmetric = true", weight}},
    {"BatchMatMulV2",
     "√",
     "true",
     "×",
     "×",
     "第二路的输入来源不含有placeholder等可动态变化的节点。",
     {"weight_asymmetric = true", weight}},
    {"FFN",
     "√",
     "true和false",
     "×",
     "×",
     "FFN算子的expert_tokens输入不为空。 FFN算子的两个权重为Float16的常量。 "
     "FFN算子的antiquant_scale1、antiquant_scale2、antiquant_offset1、antiquant_"
     "offset2四个输入为空。 "
     "权重不支持权重共享。 FFN算子量化仅 Atlas A2 训练系列产品 / Atlas A2 推理系列产品 支持。",
     {"expert_tokens_empty = false", "weights_float16_constant = true", "antiquant_empty = true",
      "weight_shared = false", "product = atlas-a2"}},
};

std::string without(std::string text, std::initializer_list<const char*> marks) {
  for (const std::string mark : marks) {
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.erase(at, mark.size());
  }
  return text;
}

/// Without blanks and the marks that separate parts of a cell.
std::string bare(const std::string& text) { return without(text, {" ", "、", "：", "，", "。"}); }

std::string demand(const Constraint& c) {
  std::string text = c.when ? "if " + c.when->text() + ": " : "";
  if (!c.check) return text + to_string(c.gives);
  text += c.check->text();
  return c.otherwise == LayerAnswer::no ? text : text + " else " + to_string(c.otherwise);
}

std::vector<std::string> demands(const std::vector<Constraint>& constraints) {
  std::vector<std::string> list;
  for (const Constraint& c : constraints) list.push_back(demand(c));
  return list;
}

/// Each constraint quotes the cell, and together they quote all of it.
void expect_quoted(const std::string& cell, const std::vector<Constraint>& constraints) {
  const std::string whole = bare(cell);
  std::string left = whole;
  for (const Constraint& c : constraints) {
    const std::string quote = bare(c.text);
    const auto at = whole.find(quote);
    EXPECT_EQ(c.source, "document") << c.id;
    ASSERT_NE(at, std::string::npos) << c.id << " quotes " << c.text;
    left.replace(at, quote.size(), quote.size(), ' ');
  }
  EXPECT_EQ(bare(left), "") << "not quoted";
}

std::string join(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& s : list) text += (text.empty() ? "" : "、") + s;
  return text;
}

void expect_table(const std::string& name, std::vector<Cell> cells) {
  const Target& t = find_target(name);
  ASSERT_EQ(t.rows.size(), cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const TargetRow& row = t.rows[i];
    SCOPED_TRACE(name + ": " + row.type);
    EXPECT_EQ(row.title, cells[i].type);
    EXPECT_EQ(row.type, cells[i].type.substr(0, cells[i].type.find("：")));
    EXPECT_EQ(join(row.ir), cells[i].ir);
    EXPECT_EQ(row.answer, LayerAnswer::quantizable);
    EXPECT_EQ(row.source, "document");
    EXPECT_EQ(demands(row.constraints), cells[i].demands);
    expect_quoted(cells[i].constraints, row.constraints);
  }
}

TEST(TargetTable, Caffe) { expect_table("amct-caffe", caffe); }
TEST(TargetTable, TensorFlow) { expect_table("amct-tf", tensorflow); }
TEST(TargetTable, Onnx) { expect_table("amct-onnx", onnx); }

TEST(TargetTable, TwentyFourRows) {
  EXPECT_EQ(find_target("amct-caffe").rows.size(), 5U);
  EXPECT_EQ(find_target("amct-tf").rows.size(), 9U);
  EXPECT_EQ(find_target("amct-onnx").rows.size(), 7U);
  EXPECT_EQ(find_target("amct-weight-only").rows.size(), 3U);
}

TEST(TargetTable, WeightOnly) {
  const Target& t = find_target("amct-weight-only");
  ASSERT_EQ(t.rows.size(), weight_only.size());
  for (std::size_t i = 0; i < weight_only.size(); ++i) {
    const WeightOnlyRow& want = weight_only[i];
    const TargetRow& row = t.rows[i];
    SCOPED_TRACE(row.type);
    EXPECT_EQ(join(row.ir), want.ir);
    EXPECT_EQ(row.cells.size(), 4U);
    EXPECT_EQ(row.cells.at("仅权重量化 权重ARQ中channel_wise=true"), want.alone_channel_wise);
    EXPECT_EQ(row.cells.at("仅权重量化 权重ARQ中asymmetric=true或false"), want.alone_asymmetric);
    EXPECT_EQ(row.cells.at("权重和数据都量化 权重ARQ中channel_wise=true"), want.both_channel_wise);
    EXPECT_EQ(row.cells.at("权重和数据都量化 权重ARQ中asymmetric=true"), want.both_asymmetric);
    EXPECT_EQ(demands(row.constraints), want.demands);
    EXPECT_EQ(demands(row.when_both),
              (std::vector<std::string>{"channel_wise = false", "weight_asymmetric = false"}));
    for (const Constraint& c : row.when_both) EXPECT_TRUE(c.error) << "× is an error";
    std::vector<Constraint> printed = row.constraints;
    if (printed.front().id == "asymmetric")
      printed.erase(printed.begin());  // its words are the column
    expect_quoted(want.constraints, printed);
  }
}

TEST(TargetTable, WeightOnlyIsRuledOutAndListedAllTheSame) {
  const Target& t = find_target("amct-weight-only");
  ASSERT_EQ(t.statements.size(), 1U);
  EXPECT_EQ(t.statements[0].text, "该版本不支持仅权重量化特性。");
  EXPECT_TRUE(t.statements[0].strict);
  ASSERT_EQ(t.rules.size(), 1U);
  EXPECT_EQ(bare(t.rules[0].constraint.text),
            bare("仅权重量化特性，仅支持以下产品类型：Atlas 推理系列产品 Atlas A2 训练系列产品 / "
                 "Atlas A2 推理系列产品"));
  EXPECT_EQ(demand(t.rules[0].constraint), "product in {atlas-inference, atlas-a2}");
  for (const char* name : {"amct-onnx", "amct-tf", "amct-caffe"})
    EXPECT_EQ(find_target(name).weight_only, "amct-weight-only");
}

TEST(TargetTable, Float16RuleNamesEightOperators) {
  const std::vector<std::string> eight = {"AvgPool",   "Pooling", "AvgPoolV2", "MaxPool",
                                          "MaxPoolV3", "Add",     "Eltwise",   "BatchMatMulV2"};
  for (const char* name : {"amct-onnx", "amct-tf", "amct-caffe"}) {
    const Target& t = find_target(name);
    const TargetRule& rule = t.rules.back();
    ASSERT_EQ(rule.types.size(), eight.size());
    for (std::size_t i = 0; i < eight.size(); ++i) {
      EXPECT_EQ(rule.types[i].type, eight[i]);
      EXPECT_EQ(rule.types[i].when.has_value(), eight[i] == "BatchMatMulV2");
    }
    EXPECT_EQ(rule.types.back().when->text(), "two_variables = true");
    EXPECT_EQ(demand(rule.constraint), "float16_model = false");
    EXPECT_EQ(
        bare(rule.constraint.text),
        bare("若网络模型输入数据类型或权重数据类型为Float16或混合精度类型（Float32/"
             "Float16共存），会关闭如下"
             "算子的量化功能： AvgPool、Pooling、AvgPoolV2、MaxPool、MaxPoolV3、Add、Eltwise、"
             "BatchMatMulV2（两路输入都为变量tensor）。"));
  }
}

TEST(TargetTable, ProductsWithoutCaffe) {
  const TargetRule& rule = find_target("amct-caffe").rules.front();
  EXPECT_EQ(demand(rule.constraint), "product not in {atlas-a2, atlas-a3, atlas-350}");
  EXPECT_EQ(bare(rule.constraint.text),
            bare("如下产品不支持Caffe框架： Atlas A2 训练系列产品 / Atlas A2 推理系列产品 "
                 "Atlas A3 训练系列产品 / Atlas A3 推理系列产品 Atlas 350 加速卡"));
}

TEST(TargetTable, EveryTableNamesItsSource) {
  for (std::string name : target_names()) {
    const Target& t = find_target(name);
    EXPECT_FALSE(t.document_title.empty() || t.version.empty() || t.readings.empty()) << name;
    for (const TargetRow& row : t.rows) EXPECT_FALSE(row.source.empty()) << name << " " << row.type;
  }
  EXPECT_EQ(find_target("amct-onnx").version, "CANN commercial 9.0.0");
}

/// The types of QDQRegistry in onnxruntime 1.32.0, quantization/registry.py.
TEST(TargetTable, OnnxRuntime) {
  const std::vector<std::string> want = {"Conv",
                                         "ConvTranspose",
                                         "Gemm",
                                         "Clip",
                                         "Relu",
                                         "Reshape",
                                         "Transpose",
                                         "Squeeze",
                                         "Unsqueeze",
                                         "Flatten",
                                         "Resize",
                                         "AveragePool",
                                         "Slice",
                                         "Pad",
                                         "MatMul",
                                         "Split",
                                         "Gather",
                                         "GatherElements",
                                         "Where",
                                         "InstanceNormalization",
                                         "LayerNormalization",
                                         "BatchNormalization",
                                         "TopK",
                                         "CumSum",
                                         "MaxPool"};
  const Target& t = find_target("onnxruntime");
  ASSERT_EQ(t.rows.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(t.rows[i].type, want[i]);
    EXPECT_EQ(demands(t.rows[i].constraints), want[i] == "MaxPool"
                                                  ? std::vector<std::string>{"opset >= 12"}
                                                  : std::vector<std::string>{});
  }
}

/// The list under "Input model requirements" of OpenVINO's page on low precision transformations.
TEST(TargetTable, OpenVino) {
  const std::vector<std::string> want = {
      "Add-1",          "AvgPool-1",      "Clamp-1",
      "Concat-1",       "Convolution-1",  "ConvolutionBackpropData-1",
      "DepthToSpace-1", "FakeQuantize-1", "GroupConvolution-1",
      "Interpolate-1",  "Interpolate-4",  "MatMul-1",
      "MaxPool-1",      "Multiply-1",     "MVN-1",
      "NormalizeL2-1",  "PRelu-1",        "ReduceMax-1",
      "ReduceMean-1",   "ReduceMin-1",    "ReduceSum-1",
      "Relu-1",         "Reshape-1",      "Split-1",
      "Squeeze-1",      "StridedSlice-1", "Transpose-1",
      "Gather-7",       "Gather-8",       "Unsqueeze-1",
      "VariadicSplit-1"};
  const Target& t = find_target("openvino");
  ASSERT_EQ(t.rows.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(t.rows[i].type, want[i]);
}

TEST(TargetTable, HorizonModes) {
  const auto rows = [](const std::string& name) {
    std::vector<std::string> list;
    for (const TargetRow& row : find_target(name).rows) {
      list.push_back(row.type);
      for (const std::string& d : demands(row.constraints)) list.push_back("  " + d);
    }
    return list;
  };
  EXPECT_EQ(rows("horizon-only-bn"),
            (std::vector<std::string>{"Conv2d", "BatchNorm2d", "  behind_conv = true", "add",
                                      "  equal_scales = true", "ReLU"}));
  EXPECT_EQ(
      rows("horizon-bn-add-relu"),
      (std::vector<std::string>{"Conv2d", "BatchNorm2d", "  behind_conv = true", "add",
                                "  operand_from_conv = true", "  equal_scales = true", "ReLU"}));
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(TargetTable, UnknownNamesListTheKnownOnes) {
  const std::string target = error_of([] { find_front_end("amct"); });
  for (const std::string& name : target_names())
    EXPECT_NE(target.find(name), std::string::npos) << name;
  // The weight-only table is reached by --scheme, it is no target of its own.
  EXPECT_NE(error_of([] { find_front_end("amct-weight-only"); }), "no error");
  const std::string product = error_of([] { find_product(find_target("amct-onnx"), "Atlas 9"); });
  for (const char* id :
       {"atlas-200i-500-a2", "atlas-a2", "atlas-a3", "atlas-350", "atlas-inference"})
    EXPECT_NE(product.find(id), std::string::npos) << product;
  EXPECT_NE(error_of([] { find_product(find_target("openvino"), "x"); }).find("no product"),
            std::string::npos);
}

TEST(TargetTable, ProductsByIdAndByName) {
  const Target& t = find_target("amct-onnx");
  EXPECT_EQ(find_product(t, "atlas-a2"), "atlas-a2");
  EXPECT_EQ(find_product(t, "Atlas A2"), "atlas-a2");
  EXPECT_EQ(find_product(t, "Atlas A2 推理系列产品"), "atlas-a2");
  EXPECT_EQ(find_product(t, "Atlas A3 训练系列产品 / Atlas A3 推理系列产品"), "atlas-a3");
  EXPECT_EQ(find_product(t, "ATLAS 推理系列产品"), "atlas-inference");
  EXPECT_EQ(find_product(t, "Atlas 200I/500 A2 推理产品"), "atlas-200i-500-a2");
}

TEST(TargetTable, ThePageNamesEveryTargetProductAndSetting) {
  const std::string page = read_file(source_dir() / "docs/targets.md");
  std::vector<std::string> names = target_names();
  for (const Product& p : find_target("amct-onnx").products) names.push_back(p.id);
  for (const std::string& s : setting_names()) names.push_back(s);
  for (const std::string& name : names)
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
}

TEST(TargetTable, BadTablesAreRefusedByField) {
  const auto table = [](const std::string& constraint) {
    return R"({"schema": "assay-target/1", "name": "t", "title": "T", "version": "1", "scheme": "uniform",
      "document": {"title": "d", "url": "", "file": ""}, "products": [], "rules": [], "statements": [],
      "readings": [], "notes": [], "rows": [{"type": "Conv", "title": "Conv", "ir": [], "match": [{"op": "Conv"}],
      "source": "document", "constraints": [)" +
           constraint + "]}]}";
  };
  const std::string good =
      R"({"id": "a", "text": "", "meaning": "", "source": "code", "check": {"fact": "mode", "is": 1}})";
  EXPECT_EQ(parse_target(table(good), "t.json").rows[0].constraints[0].check->text(), "mode = 1");
  const auto broken = [&](const std::string& from, const std::string& to) {
    std::string text = table(good);
    text.replace(text.find(from), from.size(), to);
    return error_of([&] { parse_target(text, "t.json"); });
  };
  EXPECT_NE(broken("\"mode\"", "\"mood\"").find("unknown fact"), std::string::npos);
  EXPECT_NE(broken("\"is\": 1", "\"is\": 1.5").find("not a value"), std::string::npos);
  EXPECT_NE(broken(", \"is\": 1", "").find("without a value"), std::string::npos);
  EXPECT_NE(broken("\"code\"", "\"hearsay\"").find("source"), std::string::npos);
  EXPECT_NE(broken("\"id\": \"a\"", "\"id\": \"a\", \"x\": 1").find("unknown field"),
            std::string::npos);
  EXPECT_NE(broken("{\"op\": \"Conv\"}", "{}").find("names an operator"), std::string::npos);
  EXPECT_NE(broken("assay-target/1", "assay-target/9").find("schema"), std::string::npos);
  EXPECT_NE(error_of([] { parse_target("{", "t.json"); }).find("not JSON"), std::string::npos);
}

}  // namespace
}  // namespace assay::target_test
