#include "runtime/attributes.h"

namespace assay {
namespace {

[[noreturn]] void missing(const std::string& name) {
  throw Error({.what = "required attribute '" + name + "' is missing"});
}

bool same_value(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const auto* t = std::get_if<Tensor>(&a)) return same_bits(*t, std::get<Tensor>(b));
  if (const auto* list = std::get_if<std::vector<Tensor>>(&a)) {
    const auto& other = std::get<std::vector<Tensor>>(b);
    if (list->size() != other.size()) return false;
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (!same_bits((*list)[i], other[i])) return false;
    }
    return true;
  }
  return std::visit(
      [&]<class T>(const T& x) {
        if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, std::vector<Tensor>>) {
          return false;  // handled above
        } else {
          return x == std::get<T>(b);
        }
      },
      a);
}

}  // namespace

Attributes::Attributes() = default;
Attributes::Attributes(std::initializer_list<std::pair<const std::string, Attribute>> items)
    : items_(items) {}
Attributes::Attributes(const Attributes&) = default;
Attributes::Attributes(Attributes&&) noexcept = default;
Attributes& Attributes::operator=(const Attributes&) = default;
Attributes& Attributes::operator=(Attributes&&) noexcept = default;
Attributes::~Attributes() = default;

bool Attributes::has(const std::string& name) const { return items_.count(name) != 0; }
void Attributes::set(const std::string& name, Attribute value) { items_[name] = std::move(value); }
void Attributes::erase(const std::string& name) { items_.erase(name); }

template <class T>
const T* Attributes::find(const std::string& name) const {
  const auto it = items_.find(name);
  if (it == items_.end()) return nullptr;
  const T* value = std::get_if<T>(&it->second);
  if (value == nullptr) throw Error({.what = "attribute '" + name + "' has the wrong kind"});
  return value;
}

std::int64_t Attributes::int_or(const std::string& name, std::int64_t other) const {
  const auto* v = find<std::int64_t>(name);
  return v ? *v : other;
}
float Attributes::float_or(const std::string& name, float other) const {
  const auto* v = find<float>(name);
  return v ? *v : other;
}
std::string Attributes::string_or(const std::string& name, std::string other) const {
  const auto* v = find<std::string>(name);
  return v ? *v : other;
}
std::vector<std::int64_t> Attributes::ints_or(const std::string& name,
                                              std::vector<std::int64_t> other) const {
  const auto* v = find<std::vector<std::int64_t>>(name);
  return v ? *v : other;
}
std::vector<float> Attributes::floats_or(const std::string& name, std::vector<float> other) const {
  const auto* v = find<std::vector<float>>(name);
  return v ? *v : other;
}
std::int64_t Attributes::required_int(const std::string& name) const {
  if (!has(name)) missing(name);
  return *find<std::int64_t>(name);
}
std::vector<std::int64_t> Attributes::required_ints(const std::string& name) const {
  if (!has(name)) missing(name);
  return *find<std::vector<std::int64_t>>(name);
}
const Tensor& Attributes::required_tensor(const std::string& name) const {
  if (!has(name)) missing(name);
  return *find<Tensor>(name);
}
const Graph& Attributes::required_graph(const std::string& name) const {
  if (!has(name)) missing(name);
  return **find<GraphPtr>(name);
}

bool same(const Attributes& a, const Attributes& b) {
  if (a.items().size() != b.items().size()) return false;
  auto y = b.items().begin();
  for (const auto& [name, value] : a.items()) {
    if (name != y->first || !same_value(value, y->second)) return false;
    ++y;
  }
  return true;
}

}  // namespace assay
