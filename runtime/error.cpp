#include "runtime/error.h"

#include <utility>

namespace assay {
namespace {

std::string one_line(const ErrorParts& p) {
  std::string text = p.where.empty() ? p.what : p.where + ": " + p.what;
  if (!p.got.empty()) text += ", got " + p.got;
  if (!p.expected.empty()) text += ", expected " + p.expected;
  if (!p.advice.empty()) text += "; " + p.advice;
  for (char& c : text) {
    if (c == '\n' || c == '\r' || c == '\0') c = ' ';
  }
  return text;
}

}  // namespace

Error::Error(ErrorParts parts) : std::runtime_error(one_line(parts)), parts_(std::move(parts)) {}

Error Error::at(const std::string& place) const {
  ErrorParts parts = parts_;
  parts.where = parts.where.empty() ? place : place + ": " + parts.where;
  return Error(parts);
}

void assertion_failed(const char* condition, const char* file, int line) {
  std::string path = file;
  const auto slash = path.find_last_of('/');
  if (slash != std::string::npos) path = path.substr(slash + 1);
  throw Error({.what = "internal error, assertion failed: " + std::string(condition),
               .where = path + ":" + std::to_string(line),
               .advice = "please report this with the model",
               .kind = ErrorKind::internal});
}

}  // namespace assay
